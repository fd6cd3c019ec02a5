/** Finds the small faults that can be planted in a source file, one by one; pure. */
import ts from 'typescript';

/** One planted fault: the text from `start` to `end` of the file is replaced. */
export interface Mutation {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** What the fault is, such as `< becomes <=`. */
  readonly kind: string;
  /** Line of the fault, counted from 1. */
  readonly line: number;
}

/** Operators whose exchange is a plausible slip of the hand. */
const EXCHANGES: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
  [ts.SyntaxKind.SlashToken, '*'],
]);

/** Statements that no behaviour hangs on: log lines. */
const LOG_CALL =
  /^(await |void )?(this\.)?#?[\w.#]*log(ger)?\??(\.(trace|debug|info|warn|error)|\[)/i;

/**
 * Lists every fault that this file can carry, in the order of the text. Log lines, types, imports and the texts of errors
 * carry none.
 *
 * @param path Name of the file; its ending tells TypeScript from TSX.
 */
export function mutationsOf(path: string, text: string): readonly Mutation[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const found: Mutation[] = [];
  const add = (node: ts.Node, replacement: string, kind: string) => {
    const start = node.getStart(file);
    const line = file.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ start, end: node.getEnd(), replacement, kind, line });
  };
  const visit = (node: ts.Node): void => {
    if (isSpared(node, file)) return;
    mutate(node, file, add);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found.toSorted((one, other) => one.start - other.start || one.end - other.end);
}

/** The text with the fault in it. */
export function textWith(text: string, { start, end, replacement }: Mutation): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

function isSpared(node: ts.Node, file: ts.SourceFile): boolean {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isThrowStatement(node)) return true;
  return ts.isExpressionStatement(node) && LOG_CALL.test(node.getText(file));
}

type Add = (node: ts.Node, replacement: string, kind: string) => void;

function mutate(node: ts.Node, file: ts.SourceFile, add: Add): void {
  const condition = conditionOf(node);
  if (condition !== null) add(condition, `!(${condition.getText(file)})`, 'condition turned round');
  if (ts.isBinaryExpression(node)) exchange(node, file, add);
  if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, 'false', 'true becomes false');
  if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, 'true', 'false becomes true');
  if (ts.isExpressionStatement(node)) leaveOut(node, file, add);
}

function exchange(node: ts.BinaryExpression, file: ts.SourceFile, add: Add): void {
  const token = node.operatorToken;
  const replacement = EXCHANGES.get(token.kind);
  const isText = [node.left, node.right].some(
    (side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side),
  );
  // A comparison that is the whole condition is turned round already.
  const isTurned = isEquality(token.kind) && conditionOf(node.parent) === node;
  if (replacement === undefined || isTurned || (isText && !isEquality(token.kind))) return;
  add(token, replacement, `${token.getText(file)} becomes ${replacement}`);
}

function isEquality(kind: ts.SyntaxKind): boolean {
  return (
    kind === ts.SyntaxKind.EqualsEqualsEqualsToken ||
    kind === ts.SyntaxKind.ExclamationEqualsEqualsToken
  );
}

/** A call or an assignment that stands as a statement of its own is left out. */
function leaveOut(node: ts.ExpressionStatement, file: ts.SourceFile, add: Add): void {
  let expression = node.expression;
  while (ts.isAwaitExpression(expression) || ts.isVoidExpression(expression)) {
    expression = expression.expression;
  }
  const isCall =
    ts.isCallExpression(expression) && expression.expression.kind !== ts.SyntaxKind.SuperKeyword;
  const isAssignment =
    ts.isBinaryExpression(expression) &&
    expression.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
    expression.operatorToken.kind <= ts.SyntaxKind.LastAssignment;
  if (isCall || isAssignment) add(node, ';', `left out: ${shortened(node.getText(file))}`);
}

function conditionOf(node: ts.Node): ts.Expression | null {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node)) return node.expression;
  return ts.isConditionalExpression(node) ? node.condition : null;
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}
