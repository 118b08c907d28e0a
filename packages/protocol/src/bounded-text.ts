import * as z from 'zod';

/** Text of at most so many bytes in UTF-8. */
export const boundedText = (maxBytes: number) =>
  z
    .string()
    .refine(
      (text) => text.length <= maxBytes && new TextEncoder().encode(text).length <= maxBytes,
      `at most ${maxBytes} bytes`,
    );
