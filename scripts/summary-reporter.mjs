// The last word of a test run: why tests were skipped, and one line that counts.

export default class SummaryReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const count = { passed: 0, failed: 0, skipped: 0 };
    const skipped = [];
    for (const module of modules) {
      if (module.state() === 'failed' && module.errors().length > 0) count.failed += 1;
      for (const test of module.children.allTests()) {
        const { state, note } = test.result();
        if (state in count) count[state] += 1;
        if (state === 'skipped')
          skipped.push(`skipped: ${test.fullName} (${note ?? 'not for this machine'})`);
      }
    }
    count.failed += unhandledErrors.length;
    for (const line of skipped) console.log(line);
    const tail = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
    console.log(`${count.passed} passed, ${count.failed} failed${tail}`);
  }
}
