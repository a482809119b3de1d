import structs from "google-protobuf/google/protobuf/struct_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";

/** Properties of a resource, or a part of them. */
export type Properties = Readonly<Record<string, unknown>>;

/** The position of a value in properties. */
export type PropertyPath = readonly (string | number)[];

/** How the engine marks special values. */
const signature = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";
const unknowns: ReadonlySet<unknown> = new Set([
  "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]);

/** Properties as the engine sent them, unwrapped, and the paths of secrets. */
export interface ReadProperties {
  readonly value: Properties;
  readonly secrets: readonly PropertyPath[];
}

/** Reads properties of a message. */
export function readProperties(struct: Struct | undefined): ReadProperties {
  const secrets: PropertyPath[] = [];
  const value = withoutMarks(struct?.toJavaScript() ?? {}, [], secrets);
  return { value: value as Properties, secrets };
}

function withoutMarks(value: unknown, path: PropertyPath, secrets: PropertyPath[]): unknown {
  if (Array.isArray(value)) return value.map((each, index) => withoutMarks(each, [...path, index], secrets));
  if (!isMapping(value)) return value;
  if (value[signature] === secretSignature) {
    secrets.push(path);
    return withoutMarks(value["value"], path, []);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, withoutMarks(each, [...path, key], secrets)]),
  );
}

/** Properties for a message; values at `secrets` are marked, paths without a value are skipped. */
export function writeProperties(value: Properties, secrets: readonly PropertyPath[]): Struct {
  let marked: unknown = JSON.parse(JSON.stringify(value));
  for (const path of outermost(secrets)) marked = markedAt(marked, path);
  return structs.Struct.fromJavaScript(marked as Parameters<typeof Struct.fromJavaScript>[0]);
}

function outermost(paths: readonly PropertyPath[]): readonly PropertyPath[] {
  const unique = [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()];
  return unique.filter((path) => !unique.some((other) => other.length < path.length && startsWith(path, other)));
}

/** Whether `path` lies at or below `prefix`. */
export function startsWith(path: PropertyPath, prefix: PropertyPath): boolean {
  return prefix.every((part, index) => path[index] === part);
}

function markedAt(value: unknown, [part, ...rest]: PropertyPath): unknown {
  if (part === undefined) return { [signature]: secretSignature, value };
  if (Array.isArray(value)) return value.map((each, index) => (index === part ? markedAt(each, rest) : each));
  if (!isMapping(value) || !(part in value)) return value;
  return { ...value, [part]: markedAt(value[part], rest) };
}

/** Whether a part of it is only known after another resource is created. */
export function holdsUnknown(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsUnknown);
  return isMapping(value) ? Object.values(value).some(holdsUnknown) : unknowns.has(value);
}

/** The deepest paths at which two values differ. */
export function differences(one: unknown, other: unknown, path: PropertyPath = []): readonly PropertyPath[] {
  if (Array.isArray(one) && Array.isArray(other)) {
    const indexes = Array.from({ length: Math.max(one.length, other.length) }, (_, index) => index);
    return indexes.flatMap((index) => differences(one[index], other[index], [...path, index]));
  }
  if (isMapping(one) && isMapping(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...keys].flatMap((key) => differences(one[key], other[key], [...path, key]));
  }
  return one === other ? [] : [path];
}

/** The value at a path; undefined if there is none. */
export function valueAt(value: unknown, path: PropertyPath): unknown {
  return path.reduce<unknown>(
    (at, part) => (typeof at === "object" && at !== null ? at[part as never] : undefined),
    value,
  );
}

/** A path in the engine's notation: `spec.ports[0].port`. */
export function pathText(path: PropertyPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    if (!/^[A-Za-z_]\w*$/.test(part)) return `${text}[${JSON.stringify(part)}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");
}

/** Whether it is an object with properties. */
export function isMapping(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
