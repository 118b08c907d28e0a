/** Lists of a hub come in pages. */
import * as z from 'zod';

/** Things in one page of a list. */
export const HUB_PAGE_MAX = 500;

/** Numbers arrive as text in a query. */
export const limit = () => z.coerce.number().int().positive().max(HUB_PAGE_MAX).default(HUB_PAGE_MAX);
export const cursor = () => z.string().max(256).optional();
export const page = {
  /** All that match, of which this page is a part. */
  total: z.int().nonnegative(),
  /** Asks for the next page; null: this is the last. */
  next: z.string().nullable(),
};
