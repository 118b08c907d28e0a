// The last screen of a terminal session, with its scrollback: kept in one file that is there whole or not at all.
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { ScreenText } from '@roost/keeper/wire';

/** Lines of scrollback that are kept of an ended session. */
export const FINAL_SCROLLBACK_LINES = 5_000;

const FinalScreen = z.object({
  lines: z.array(z.string()),
  size: z.object({ columns: z.int(), rows: z.int() }),
  title: z.string().nullable(),
  alternateScreen: z.boolean(),
  truncated: z.boolean(),
});
type FinalScreen = z.infer<typeof FinalScreen>;

export async function writeFinalScreen(directory: string, screen: ScreenText): Promise<void> {
  const { lines, size, title, alternateScreen, truncated } = screen;
  const text = JSON.stringify({ lines, size, title, alternateScreen, truncated });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  const temporary = join(directory, `final-screen.${randomBytes(4).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, finalScreenPath(directory));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** null when none is kept. */
export async function readFinalScreen(directory: string): Promise<FinalScreen | null> {
  try {
    const parsed = FinalScreen.safeParse(JSON.parse(await readFile(finalScreenPath(directory), 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** What is asked for of a kept screen: its last lines. */
export function lastLines(screen: FinalScreen, scrollback: number): { lines: string[]; truncated: boolean } {
  const wanted = screen.size.rows + scrollback;
  const cut = screen.lines.length > wanted;
  return { lines: cut ? screen.lines.slice(-wanted) : screen.lines, truncated: cut || screen.truncated };
}

function finalScreenPath(directory: string): string {
  return join(directory, 'final-screen.json');
}
