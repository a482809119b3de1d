import { randomBytes, randomInt } from "node:crypto";

import { differences, type Properties } from "./property-values.ts";
import { serveProvider } from "./serve-provider.ts";

const lower = "abcdefghijklmnopqrstuvwxyz";
const upper = lower.toUpperCase();
const numeric = "0123456789";
const special = "!@#$%&*()-_=+[]{}<>:?";

/** Creates each kind from its inputs. `bcryptHash` of a password is missing, as there is no bcrypt here. */
const makers: Readonly<Record<string, (inputs: Properties) => { readonly id: string; readonly outputs: Properties }>> =
  {
    "random:index/randomPassword:RandomPassword": (inputs) => ({ id: "none", outputs: { result: text(inputs) } }),
    "random:index/randomString:RandomString": (inputs) => {
      const result = text(inputs);
      return { id: result, outputs: { result } };
    },
    "random:index/randomId:RandomId": (inputs) => {
      const bytes = randomBytes(Number(inputs["byteLength"]));
      const prefix = typeof inputs["prefix"] === "string" ? inputs["prefix"] : "";
      const outputs = {
        b64Std: prefix + bytes.toString("base64"),
        b64Url: prefix + bytes.toString("base64url"),
        hex: prefix + bytes.toString("hex"),
        dec: prefix + BigInt(`0x${bytes.toString("hex")}`).toString(),
      };
      return { id: bytes.toString("base64url"), outputs };
    },
    "random:index/randomBytes:RandomBytes": (inputs) => {
      const bytes = randomBytes(Number(inputs["length"]));
      return { id: "none", outputs: { base64: bytes.toString("base64"), hex: bytes.toString("hex") } };
    },
  };

serveProvider({
  version: "4.21.2",
  supportsPreview: false,
  secrets: (type) =>
    type.endsWith("RandomPassword") ? [["result"]] : type.endsWith("RandomBytes") ? [["base64"], ["hex"]] : [],
  diff: async ({ inputs, news }) => {
    const changes = differences(withoutEngine(inputs), withoutEngine(news));
    return { changes, replaces: changes, deleteFirst: false };
  },
  create: async ({ name, inputs }) => {
    const make = makers[name.type];
    if (make === undefined) throw new Error(`Cannot make "${name.name}": the stand-in has no ${name.type}`);
    const { id, outputs } = make(inputs);
    return { id, outputs: { ...inputs, ...outputs } };
  },
  read: async ({ inputs, outputs }) => ({ inputs, outputs }),
  update: async ({ outputs }) => outputs,
  delete: async () => {},
});

function withoutEngine(inputs: Properties): Properties {
  return Object.fromEntries(Object.entries(inputs).filter(([key]) => !key.startsWith("__")));
}

function text(inputs: Properties): string {
  const isEnabled = (...keys: string[]): boolean => keys.every((key) => inputs[key] !== false);
  const specials = typeof inputs["overrideSpecial"] === "string" ? inputs["overrideSpecial"] : special;
  const sets = [
    { characters: lower, enabled: isEnabled("lower"), least: inputs["minLower"] },
    { characters: upper, enabled: isEnabled("upper"), least: inputs["minUpper"] },
    { characters: numeric, enabled: isEnabled("numeric", "number"), least: inputs["minNumeric"] },
    { characters: specials, enabled: isEnabled("special"), least: inputs["minSpecial"] },
  ].filter(({ enabled }) => enabled);
  const length = Number(inputs["length"]);
  const pick = (characters: string): string => characters[randomInt(characters.length)] ?? "";
  const needed = sets.flatMap(({ characters, least }) =>
    Array.from({ length: typeof least === "number" ? least : 0 }, () => pick(characters)),
  );
  if (needed.length > length)
    throw new Error(`Cannot make a text of ${length} characters: ${needed.length} are needed`);
  const all = sets.map(({ characters }) => characters).join("");
  const picked = [...needed, ...Array.from({ length: length - needed.length }, () => pick(all))];
  for (let index = picked.length - 1; index > 0; index -= 1) {
    const other = randomInt(index + 1);
    [picked[index], picked[other]] = [picked[other] ?? "", picked[index] ?? ""];
  }
  return picked.join("");
}
