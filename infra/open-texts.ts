import * as pulumi from "@pulumi/pulumi";

import { isMapping } from "../runtime/settings/mapping.ts";
import type { Parsed } from "../runtime/settings/setting.ts";
import type { KubernetesObject, ObjectMetadata } from "./manifests/kubernetes-object.ts";
import { groupedOptions } from "./manifests/platform-options.ts";

/**
 * Texts from other resources: known only once those are created, while the objects that contain them are built from
 * known values. Until then, each text has a placeholder.
 */
export interface OpenTexts {
  /** The arguments with those placeholders. */
  readonly plain: Readonly<Record<string, unknown>>;
  /** The object with the texts in place of their placeholders. */
  fillObject(object: KubernetesObject): OpenObject;
  fillText(text: string): pulumi.Input<string>;
  /** Whether a text holds a placeholder. */
  isOpen(text: string): boolean;
}

/** An object in which values may come from other resources. */
export type OpenObject = pulumi.Inputs &
  Pick<KubernetesObject, "apiVersion" | "kind"> & {
    readonly metadata: Omit<ObjectMetadata, "namespace"> & { readonly namespace?: pulumi.Input<string> };
  };

type OpenGroup = "images" | "ingress" | "console";

/** Options whose value only appears in objects and decides nothing else. */
const mayBeOpen: readonly (readonly [group: OpenGroup, option: string])[] = [
  ["images", "weir"],
  ["images", "nats"],
  ["ingress", "host"],
  ["ingress", "className"],
  ["ingress", "tlsSecret"],
  ["ingress", "clusterIssuer"],
  ["console", "host"],
  ["console", "className"],
  ["console", "tlsSecret"],
  ["console", "clusterIssuer"],
];

/**
 * Puts placeholders in place of texts that are not known yet. Once known, they are checked by the rule of their option.
 */
export function openTexts(args: Readonly<Record<string, unknown>>): OpenTexts {
  const texts = new Map<string, pulumi.Output<string>>();
  const plain: Record<string, unknown> = { ...args };
  for (const [group, option] of mayBeOpen) {
    const options = plain[group];
    if (!isMapping(options)) continue;
    const text = options[option];
    if (!isLater(text)) continue;
    const placeholder = `weir-open-${texts.size}.invalid`;
    texts.set(
      placeholder,
      pulumi.output(text).apply((known) => checked(group, option, known)),
    );
    plain[group] = { ...options, [option]: placeholder };
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
    isOpen: (text) => [...texts.keys()].some((placeholder) => text.includes(placeholder)),
  };
}

/** Whether the value becomes known only later. */
export function isLater(value: unknown): value is pulumi.Output<string> | Promise<string> {
  return pulumi.Output.isInstance(value) || value instanceof Promise;
}

function checked(group: OpenGroup, option: string, text: unknown): string {
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
  const placeholders = [...texts.keys()].filter((placeholder) => text.includes(placeholder));
  if (placeholders.length === 0) return text;
  return pulumi
    .all(placeholders.map((placeholder) => texts.get(placeholder) ?? ""))
    .apply((found) =>
      placeholders.reduce((filling, placeholder, index) => filling.replaceAll(placeholder, found[index] ?? ""), text),
    );
}
