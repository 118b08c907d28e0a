import ts from 'typescript';

/** What runs nothing, whatever its title says. */
const LEFT_OUT = ['skip', 'todo'];

/** The titles of the tests in a source: first arguments of `it(`, `test(`, `it.each(...)(` and the like, as they are written. */
export function testTitles(source: string): string[] {
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && declaresTest(node.expression)) {
      const [title] = node.arguments;
      if (title !== undefined && ts.isStringLiteralLike(title)) titles.push(title.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest));
  return titles;
}

function declaresTest(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return callee.text === 'it' || callee.text === 'test';
  if (ts.isPropertyAccessExpression(callee))
    return !LEFT_OUT.includes(callee.name.text) && declaresTest(callee.expression);
  return ts.isCallExpression(callee) && declaresTest(callee.expression);
}
