import * as z from 'zod';
import { boundedText } from './bounded-text.ts';
import { WORKSPACE_FILE_BYTES_MAX } from './bounds.ts';

/** What a file held when it was read: SHA-256 of its bytes as 64 hexadecimal digits. */
export const FileRevision = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'a revision is 64 hexadecimal digits')
  .brand<'FileRevision'>();
export type FileRevision = z.infer<typeof FileRevision>;

/** Text of a file, at most 256 KiB in UTF-8, byte for byte: no NUL, which makes a file binary. */
export const FileText = boundedText(WORKSPACE_FILE_BYTES_MAX).refine(
  (text) => !text.includes('\0') && text.isWellFormed(),
  'the text must be what UTF-8 can hold, without NUL',
);

/** text: UTF-8 without NUL. binary: anything else. too-large: not looked at. Only a text has a revision. */
export const FileContent = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('text'),
    text: z.string(),
    byteLength: z.int().nonnegative(),
    revision: FileRevision,
  }),
  z.object({ kind: z.literal('binary'), byteLength: z.int().nonnegative() }),
  z.object({ kind: z.literal('too-large'), limitBytes: z.int().positive() }),
]);
export type FileContent = z.infer<typeof FileContent>;
