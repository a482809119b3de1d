import { cp } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import type { ConsoleWeir } from "../../test/support/console/console-weir.ts";
import { eventually } from "../../test/support/eventually.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { shopFunctions, type ShopFunction } from "./shop-functions.ts";

const program = fileURLToPath(new URL("shop", import.meta.url));

/** A call that is repeated twice, and calls that are given up. */
const callId = (order: number): string => `7f3c1d52-90ab-4c1e-8f27-00000000${order}`;
const repeated = 1_042;
const givenUp = [1_047, 1_051, 1_058];
const buyers = ["ada", "boris", "chen", "dana"] as const;

/** What there is to be shown. */
export interface OpenShop {
  /** Id of the call that succeeded at its third run. */
  readonly repeated: string;
}

/** Deploys the functions of the shop, and queues receipts until all of them have ended. */
export async function openShop(weir: ConsoleWeir): Promise<OpenShop> {
  await using folder = await tempDirectory("shop");
  await cp(program, folder.path, { recursive: true });
  for (const each of shopFunctions) await weir.deploy(deploymentOf(each, folder.path));
  for (const { name } of shopFunctions.filter(({ replicas }) => replicas === 0)) {
    const scaled = await weir.api("POST", `/system/scale-function/${name}`, { replicas: 0 });
    if (!scaled.ok) throw new Error(`Cannot scale ${name}: ${await scaled.text()}`);
  }
  const orders = Array.from({ length: 20 }, (_, index) => 1_040 + index);
  for (const order of orders) await weir.calls.accepted("send-receipt", receiptOf(order, weir.weir.url));
  for (const order of orders) await weir.calls.ended(callId(order));
  await eventually(() => isListed(weir, callId(repeated)), { what: "the history to have the calls" });
  return { repeated: callId(repeated) };
}

function deploymentOf({ name, delay, replicas = 1 }: ShopFunction, folder: string) {
  return {
    service: name,
    image: `shop/${name}:1.4`,
    envProcess: "node function.ts",
    envVars: { mode: "http", delay: String(delay) },
    labels: { "com.service.scale.min": String(Math.max(1, replicas)), "com.service.scale.max": "8" },
    annotations: {
      "com.service.local.folder": folder,
      "com.service.history.bodies": "24h",
      "com.service.retry.attempts": "2",
      "com.service.retry.min_wait": "1s",
    },
  };
}

function receiptOf(order: number, url: string) {
  const tail = order === repeated ? "/busy" : givenUp.includes(order) ? "/closed" : "/receipts";
  const to = `${buyers[order % buyers.length]}@example.com`;
  return {
    id: callId(order),
    tail,
    body: JSON.stringify({ order, to }),
    ...(order === repeated ? { callbackUrl: `${url}/function/checkout/receipts` } : {}),
  };
}

/** Whether the history shows a call with its end and what became of its callback. */
async function isListed({ api }: ConsoleWeir, id: string): Promise<boolean> {
  const call = (await (await api("GET", `/system/calls/${id}`)).json()) as {
    readonly timeline?: readonly { readonly kind: string }[];
    readonly history?: { readonly complete: boolean };
  };
  return call.history?.complete === true && call.timeline?.some(({ kind }) => kind === "callbackEnded") === true;
}
