import { join } from 'node:path';

/** Where `roost login` keeps what it was given. */
export function loginPath(home: string): string {
  return join(home, 'login.json');
}
