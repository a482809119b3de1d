/** Entries of `imports` in package.json. */
export type ImportMap = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** Files that replace another one under an import condition: they must export the same names. */
export function standIns(imports: ImportMap): ReadonlySet<string> {
  return new Set(
    Object.values(imports).flatMap((target) =>
      typeof target === "string"
        ? []
        : Object.entries(target).flatMap(([condition, path]) =>
            condition === "default" ? [] : [path.replace(/^\.\//, "")],
          ),
    ),
  );
}
