/** Long fault loops run at full count on demand (`npm run attack`) and at a reduced one in every test run. */
export const FULL_ATTACK = process.env.ROOST_ATTACK === 'full';

export function attackCount(full: number, reduced: number): number {
  return FULL_ATTACK ? full : reduced;
}
