import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import { FunctionTable } from "../../../runtime/core/replicas/function-table.ts";
import { asyncFunctionPrefix, functionPrefix, splitTarget } from "../../../runtime/gateway/calls/split-target.ts";
import { latin1, mustHold, type FuzzTarget } from "../fuzz-target.ts";

const options = { defaultNamespace: "functions", aliases: ["openfaas-fn"] };
/** An independent form of the same grammar: name, namespace, path, query. */
const grammar = /^([a-z0-9-]{1,63})(?:\.([a-z0-9-]{1,63}))?(\/[^?]*)?(?:\?([^]*))?$/;
const isLabel = (text: string): boolean => !text.startsWith("-") && !text.endsWith("-");

const table = new FunctionTable(options);
for (const [name, namespace] of [
  ["echo", "functions"],
  ["echo", "dev"],
  ["system", "functions"],
  ["a", "b"],
] as const) {
  table.functionObserver.set(
    desireFunction(undefined, namespace, { service: name, image: "none" }, "2026-01-01T00:00:00Z"),
  );
}

/** Throws unless the named function, the route and the forwarded target are one reading of the same bytes. */
export function checkSplit(prefix: string, rest: string): void {
  const split = splitTarget(prefix + rest, prefix);
  const [, name, namespace, path = "", query] = grammar.exec(rest) ?? [];
  const isName = name !== undefined && isLabel(name) && (namespace === undefined || isLabel(namespace));
  if (split === undefined) {
    mustHold(!isName, "a name of a function is not read");
    return;
  }
  mustHold(isName, "what is no name of a function is read as one");
  mustHold(split.name === name && split.namespace === namespace, "authority differs");
  mustHold(split.path === path && split.query === query, "what is forwarded differs");
  const again = split.key + split.path + (split.query === undefined ? "" : `?${split.query}`);
  mustHold(again === rest, "the parts do not make the whole");

  const entry = table.findKey(split.key);
  mustHold(entry === table.find(split.name, split.namespace), "the look-ups differ");
  if (entry === undefined) return;
  const { defaultNamespace, aliases } = options;
  const meant = namespace === undefined || aliases.includes(namespace) ? defaultNamespace : namespace;
  mustHold(entry.ref.name === name && entry.ref.namespace === meant, "the route leads to another function");
}

export const pathSplit: FuzzTarget = {
  name: "path-split",
  promises: "whose rights are asked, where a call goes and what is forwarded are one reading of the same bytes",
  maxBytes: 1_024,
  words: ["/", "//", "..", "/../", ".", "?", "#", "%2f", "%2e%2e", ";", "\\", "@", ":", "echo", "dev", "openfaas-fn"],
  seeds: ["echo", "echo.dev/a%2Fb?x=1", "echo.openfaas-fn//x/../y?", "system/info", "a.b/?/", "-a", "a.b.c"],
  run: (input) => {
    for (const prefix of [functionPrefix, asyncFunctionPrefix]) checkSplit(prefix, latin1(input));
  },
};
