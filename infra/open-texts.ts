import * as pulumi from "@pulumi/pulumi";

import { isMapping } from "../runtime/settings/mapping.ts";
import type { Parsed } from "../runtime/settings/setting.ts";
import type { KubernetesObject } from "./manifests/kubernetes-object.ts";
import { groupedOptions } from "./manifests/platform-options.ts";

/**
 * Texts that other resources give: known only when those are made, while the objects that they stand in are made of plain
 * values. Each has a word that stands for it until then.
 */
export interface OpenTexts {
  /** The arguments with those words. */
  readonly plain: Readonly<Record<string, unknown>>;
  /** The object with the texts in place of their words. */
  fillObject(object: KubernetesObject): OpenObject;
  fillText(text: string): pulumi.Input<string>;
}

/** An object in which values may come from other resources. */
export type OpenObject = pulumi.Inputs & Pick<KubernetesObject, "apiVersion" | "kind" | "metadata">;

/** Options whose value only stands in objects, and decides nothing else. */
const mayBeOpen: readonly (readonly [group: "images" | "ingress", option: string])[] = [
  ["images", "weir"],
  ["images", "nats"],
  ["ingress", "host"],
  ["ingress", "className"],
  ["ingress", "tlsSecret"],
  ["ingress", "clusterIssuer"],
];

/**
 * Puts words in place of what is not known yet. The texts are checked when they are known, by the rule of their option.
 */
export function openTexts(args: Readonly<Record<string, unknown>>): OpenTexts {
  const texts = new Map<string, pulumi.Output<string>>();
  const plain: Record<string, unknown> = { ...args };
  for (const [group, option] of mayBeOpen) {
    const options = plain[group];
    if (!isMapping(options)) continue;
    const text = options[option];
    if (!isLater(text)) continue;
    const word = `weir-open-${texts.size}.invalid`;
    texts.set(
      word,
      pulumi.output(text).apply((known) => checked(group, option, known)),
    );
    plain[group] = { ...options, [option]: word };
  }
  return {
    plain,
    fillObject: ({ apiVersion, kind, metadata, ...fields }) => ({
      ...Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, filled(value, texts)])),
      apiVersion,
      kind,
      metadata: filled(metadata, texts) as KubernetesObject["metadata"],
    }),
    fillText: (text) => filledText(text, texts),
  };
}

/** Whether its value comes later. */
export function isLater(value: unknown): value is pulumi.Output<string> | Promise<string> {
  return pulumi.Output.isInstance(value) || value instanceof Promise;
}

function checked(group: "images" | "ingress", option: string, text: unknown): string {
  const table: Readonly<Record<string, { readonly parse: (text: string) => Parsed<unknown> }>> = groupedOptions[group];
  const parsed = table[option]?.parse(String(text));
  if (parsed !== undefined && "expected" in parsed)
    throw new pulumi.RunError(`${group}.${option}: expected ${parsed.expected}, got "${String(text)}"`);
  return String(text);
}

type Texts = ReadonlyMap<string, pulumi.Output<string>>;

function filled(value: unknown, texts: Texts): unknown {
  if (typeof value === "string") return filledText(value, texts);
  if (Array.isArray(value)) return value.map((item) => filled(item, texts));
  if (!isMapping(value) || isLater(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, texts)]));
}

function filledText(text: string, texts: Texts): pulumi.Input<string> {
  const words = [...texts.keys()].filter((word) => text.includes(word));
  if (words.length === 0) return text;
  return pulumi
    .all(words.map((word) => texts.get(word) ?? ""))
    .apply((found) => words.reduce((filling, word, index) => filling.replaceAll(word, found[index] ?? ""), text));
}
