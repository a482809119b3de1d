import { namePattern } from "../../runtime/api/grammar.ts";
import type { Setting } from "../../runtime/settings/setting.ts";

type Texts = Readonly<Record<string, string>>;

/** The rule for entries of a mapping. */
interface EntryRule {
  readonly test: (key: string, text: string) => boolean;
  readonly expected: string;
}

/** Variables that the manifests set. */
const decidedVariables: readonly string[] = ["NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "POD_NAME"];

const isKey = (key: string) => key.length <= 317 && new RegExp(namePattern.key).test(key);
const labelValue = new RegExp(namePattern.labelValue);

/** A mapping of words to texts; only in a file. */
export function objectOf(name: string, about: string): Setting<Texts> {
  return mappingOf(name, about, { test: () => true, expected: "a text" });
}

/** Kubernetes labels. */
export function labelsOption(name: string, about: string): Setting<Texts> {
  return mappingOf(name, about, {
    test: (key, text) => isKey(key) && labelValue.test(text),
    expected: 'a label such as "kubernetes.io/os": "linux"',
  });
}

/** Kubernetes annotations. */
export function annotationsOption(name: string, about: string): Setting<Texts> {
  return mappingOf(name, about, {
    test: (key) => isKey(key),
    expected: 'the key of an annotation such as "example.com/team"',
  });
}

/** Environment variables, in capitals: settings of Weir are in lower case, and options of their own. */
export function variablesOption(name: string, about: string): Setting<Texts> {
  return mappingOf(name, about, {
    test: (key) => /^[A-Z_][A-Z0-9_]*$/.test(key) && !decidedVariables.includes(key),
    expected: `the name of a variable in capitals, other than ${decidedVariables.join(" and ")}`,
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

/** `pulumi config set --path` stores what looks like a number, true or false as such. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "boolean" || Number.isSafeInteger(value) ? String(value) : undefined;
}
