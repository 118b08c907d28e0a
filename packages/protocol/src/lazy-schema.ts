import * as z from 'zod';

/**
 * A schema that is built at its first use. Building all schemas is a good part of a command's start, and a command uses few of
 * them: large ones that only some need are declared with this.
 */
export const lazySchema = <Schema extends z.ZodType>(build: () => Schema): z.ZodLazy<Schema> => z.lazy(build);
