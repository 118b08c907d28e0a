/** Does the work for each, so many at once, in order of their beginning; ends early when it says false, or throws. */
export async function eachAtOnce<One>(
  values: Iterable<One>,
  atOnce: number,
  work: (value: One) => Promise<boolean>,
): Promise<void> {
  const iterator = values[Symbol.iterator]();
  let goesOn = true;
  const worker = async () => {
    for (let next = iterator.next(); goesOn && next.done !== true; next = iterator.next()) {
      if (!(await work(next.value))) goesOn = false;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
