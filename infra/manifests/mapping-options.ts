import { namePattern } from "../../runtime/api/grammar.ts";
import type { Setting } from "../../runtime/settings/setting.ts";

type Texts = Readonly<Record<string, string>>;

/** What an entry of a mapping has to be. */
interface EntryRule {
  readonly test: (key: string, text: string) => boolean;
  readonly expected: string;
}

const isKey = (key: string) => key.length <= 317 && new RegExp(namePattern.key).test(key);
const labelValue = new RegExp(namePattern.labelValue);

/** A mapping of words to texts, in a file only. */
export function objectOf(name: string, about: string): Setting<Texts> {
  return mappingOf(name, about, { test: () => true, expected: "a text" });
}

/** Labels of Kubernetes. */
export function labelsOption(name: string, about: string): Setting<Texts> {
  return mappingOf(name, about, {
    test: (key, text) => isKey(key) && labelValue.test(text),
    expected: 'a label such as "kubernetes.io/os": "linux"',
  });
}

/** Annotations of Kubernetes. */
export function annotationsOption(name: string, about: string): Setting<Texts> {
  return mappingOf(name, about, {
    test: (key) => isKey(key),
    expected: 'the key of an annotation such as "example.com/team"',
  });
}

function mappingOf(name: string, about: string, { test, expected }: EntryRule): Setting<Texts> {
  return {
    name,
    about,
    kind: "mapping",
    fallback: "",
    parse: () => ({ expected: "a mapping of texts" }),
    parseFile: (content) => {
      const mapping = content ?? {};
      if (typeof mapping !== "object" || Array.isArray(mapping))
        return { problems: [`${name}: expected a mapping of texts`] };
      const entries = Object.entries(mapping).map(([key, value]: [string, unknown]) => [key, textOf(value)] as const);
      const wrong = entries.filter(([key, text]) => text === undefined || !test(key, text));
      return wrong.length > 0
        ? {
            problems: wrong.map(
              ([key, text]) => `${name}["${key}"]: expected ${text === undefined ? "a text" : expected}`,
            ),
          }
        : { value: Object.fromEntries(entries.flatMap(([key, text]) => (text === undefined ? [] : [[key, text]]))) };
    },
  };
}

/** `pulumi config set --path` keeps what looks like it as a number, or as true and false. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "boolean" || Number.isSafeInteger(value) ? String(value) : undefined;
}
