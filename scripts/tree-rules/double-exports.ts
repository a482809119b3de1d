import { parseAst } from "rolldown/parseAst";

/** A source file, by its path from the root. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

type Statement = ReturnType<typeof parseAst>["body"][number];
type Declaration = NonNullable<Extract<Statement, { type: "ExportNamedDeclaration" }>["declaration"]>;
type Binding = Extract<Declaration, { type: "VariableDeclaration" }>["declarations"][number]["id"];

/** Names that several files export, a sentence each. A re-exported name counts only for the file that declares it. */
export function doubleExports(sources: readonly Source[]): string[] {
  const files = new Map<string, string[]>();
  for (const { path, text } of sources)
    for (const name of ownExports(text, path.endsWith(".tsx") ? "tsx" : "ts"))
      files.set(name, [...(files.get(name) ?? []), path]);
  return [...files]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `"${name}" is exported by ${paths.toSorted().join(" and ")}: give one a name of its own`)
    .toSorted();
}

/** Names that a module declares and exports; a value and a type of the same name count once. */
function ownExports(text: string, lang: "ts" | "tsx"): ReadonlySet<string> {
  const reExported = new Set<string>();
  const names = new Set<string>();
  for (const statement of parseAst(text, { lang }).body) {
    if (statement.type === "ImportDeclaration")
      for (const { local } of statement.specifiers) reExported.add(local.name);
    if (statement.type !== "ExportNamedDeclaration" || statement.source !== null) continue;
    if (statement.declaration !== null) for (const name of declaredNames(statement.declaration)) names.add(name);
    for (const { local, exported } of statement.specifiers)
      if (local.type === "Identifier" && exported.type === "Identifier" && !reExported.has(local.name))
        names.add(exported.name);
  }
  return names;
}

function declaredNames(declaration: Declaration): readonly string[] {
  if (declaration.type === "VariableDeclaration") return declaration.declarations.flatMap(({ id }) => boundNames(id));
  return "id" in declaration && declaration.id?.type === "Identifier" ? [declaration.id.name] : [];
}

function boundNames(binding: Binding): readonly string[] {
  switch (binding.type) {
    case "Identifier":
      return [binding.name];
    case "ObjectPattern":
      return binding.properties.flatMap((each) => boundNames(each.type === "RestElement" ? each.argument : each.value));
    case "ArrayPattern":
      return binding.elements.flatMap((each) => {
        if (each === null) return [];
        return boundNames(each.type === "RestElement" ? each.argument : each);
      });
    case "AssignmentPattern":
      return boundNames(binding.left);
    default:
      return binding satisfies never;
  }
}
