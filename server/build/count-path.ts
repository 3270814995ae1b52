/**
 * Development: `npm run count:path` prints the files and lines that an event passes from the operation `createEvent` to the
 * disk of SQLite. It asserts nothing.
 *
 * It follows values from declaration to declaration, through the imports: a function, method or constant counts if counted
 * code mentions it. Of a class, fields and constructor count, and the methods that are mentioned. Types do not: nothing of
 * them runs, and through the types of the store an event would reach everything. Blank lines and comments do not count.
 *
 * At some steps no value is imported. Methods of an interface, such as the store's for the operation, are looked up in what
 * implements it on SQLite. A message takes a group to the writer's thread, so what the thread does with it is named as a
 * start.
 */
import { relative } from 'node:path'
import ts from 'typescript'

/** File and name of each declaration to start from. */
const STARTS = [
  ['server/operations/ingestion.ts', 'createEvent'],
  ['server/storage/sqlite/writer/wire-format.ts', 'unpackGroup'],
  ['server/storage/sqlite/writer/writing-connection.ts', 'commitGroup'],
  ['server/storage/sqlite/writer/wire-format.ts', 'packResults'],
] as const

/** The files that implement the methods of an interface, by the file that declares it. */
const IMPLEMENTATIONS = new Map([
  ['server/storage/events/event-store.ts', ['server/storage/sqlite/event-store.ts']],
  [
    'server/storage/sqlite/writer/event-writer.ts',
    [
      'server/storage/sqlite/index/memtable.ts',
      'server/storage/sqlite/index/zone-map.ts',
      'server/storage/sqlite/writer/event-counter.ts',
      'server/storage/sqlite/writer/event-keys.ts',
      'server/storage/sqlite/writer/references.ts',
    ],
  ],
])

const program = programOf([...STARTS.map(([file]) => file), ...[...IMPLEMENTATIONS.values()].flat()])
const checker = program.getTypeChecker()
const reached = new Set<ts.Node>()
/** Numbers of the lines that count, by file. */
const lines = new Map<string, Set<number>>()

for (const [file, name] of STARTS) {
  const declarations = declarationsIn(file, name)
  if (declarations.length === 0) throw new Error(`${file} has no ${name}`)
  for (const declaration of declarations) reach(declaration)
}

const counts = Array.from(lines, ([file, numbers]) => ({ file, count: numbers.size }))
for (const { file, count } of counts) process.stdout.write(`${String(count).padStart(6)}  ${file}\n`)
const sum = counts.reduce((sum, { count }) => sum + count, 0)
process.stdout.write(`${String(sum).padStart(6)}  lines in ${counts.length} files\n`)

function programOf(files: string[]): ts.Program {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.')
  return ts.createProgram(files, options)
}

/** Counts a declaration, and follows what it mentions. */
function reach(declaration: ts.Node): void {
  if (reached.has(declaration)) return
  reached.add(declaration)
  if (ts.isClassLike(declaration)) {
    for (const member of declaration.members) if (!isCalled(member)) reach(member)
    for (const clause of declaration.heritageClauses ?? []) follow(clause)
    return
  }
  if (ts.isClassElement(declaration) && ts.isClassLike(declaration.parent)) reach(declaration.parent)
  count(declaration)
  follow(declaration)
}

/** Whether a member of a class does nothing unless it is mentioned. */
function isCalled(member: ts.ClassElement): boolean {
  return ts.isMethodDeclaration(member) || ts.isAccessor(member)
}

function count(declaration: ts.Node): void {
  const source = declaration.getSourceFile()
  const file = pathOf(source)
  const numbers = lines.get(file) ?? new Set()
  lines.set(file, numbers)
  eachToken(declaration, (token) => {
    const first = source.getLineAndCharacterOfPosition(token.getStart(source)).line
    const last = source.getLineAndCharacterOfPosition(token.getEnd()).line
    for (let line = first; line <= last; line += 1) numbers.add(line)
  })
}

function eachToken(node: ts.Node, look: (token: ts.Node) => void): void {
  const children = node.getChildren()
  if (children.length === 0 && node.getWidth() > 0) look(node)
  for (const child of children) if (!ts.isJSDoc(child)) eachToken(child, look)
}

/** Reaches the declaration of each name that a node mentions, except in types. */
function follow(node: ts.Node): void {
  if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return
  if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
    for (const declaration of symbolOf(node)?.declarations ?? []) {
      for (const method of implementationsOf(declaration)) reach(method)
      if (isReachable(declaration)) reach(declaration)
    }
  }
  ts.forEachChild(node, follow)
}

function symbolOf(node: ts.Identifier | ts.PrivateIdentifier): ts.Symbol | undefined {
  const symbol = ts.isShorthandPropertyAssignment(node.parent)
    ? checker.getShorthandAssignmentValueSymbol(node.parent)
    : checker.getSymbolAtLocation(node)
  return symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

function implementationsOf(declaration: ts.Declaration): ts.Node[] {
  if (!ts.isMethodSignature(declaration)) return []
  const files = IMPLEMENTATIONS.get(pathOf(declaration.getSourceFile())) ?? []
  return files.flatMap((file) => declarationsIn(file, declaration.name.getText()))
}

/** Whether it is ours, and stands by itself: what is local to a function belongs to the function. */
function isReachable(declaration: ts.Node): boolean {
  if (!/^server\//.test(pathOf(declaration.getSourceFile()))) return false
  if (ts.isClassElement(declaration) && ts.isClassLike(declaration.parent)) return true
  if (ts.isClassLike(declaration) || ts.isFunctionDeclaration(declaration)) return true
  if (ts.isMethodDeclaration(declaration)) return true
  return ts.isVariableDeclaration(declaration) && ts.isSourceFile(declaration.parent.parent.parent)
}

/** The functions, methods and constants of a file that have this name. */
function declarationsIn(file: string, name: string): ts.Node[] {
  const source = program.getSourceFile(file)
  if (!source) throw new Error(`there is no ${file}`)
  const found: ts.Node[] = []
  const look = (node: ts.Node) => {
    const isNamed =
      ts.isFunctionDeclaration(node) ||
      ts.isMethodDeclaration(node) ||
      ts.isPropertyAssignment(node) ||
      ts.isVariableDeclaration(node)
    if (isNamed && node.name?.getText() === name) found.push(node)
    ts.forEachChild(node, look)
  }
  look(source)
  return found
}

function pathOf(source: ts.SourceFile): string {
  return relative('.', source.fileName)
}
