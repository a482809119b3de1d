import { expect, test } from "vitest";

import { ServerContact } from "../../../../../runtime/adapters/kubernetes/client/server-contact.ts";

const never = 3_600_000;
const watch = (kind: string) => ({ kind, age: 0 });
const open = new AbortController().signal;

test("an outage is reported at the first watch that fails, and its end when the last one recovers", () => {
  let recoveries = 0;
  const contact = new ServerContact({ onRecovered: () => (recoveries += 1) });
  const [a, b, healthy] = [watch("A"), watch("B"), watch("C")];
  expect(contact.isFailing).toBe(false);
  expect([contact.failed(a), contact.failed(a), contact.failed(b)]).toEqual([true, false, false]);
  expect(contact.isFailing).toBe(true);
  contact.recovered(healthy);
  contact.recovered(a);
  expect(recoveries).toBe(0);
  contact.recovered(b);
  contact.recovered(b);
  expect(recoveries).toBe(1);
  expect(contact.isFailing).toBe(false);
  expect(contact.failed(b)).toBe(true);
});

test("the first watch to get a response after an outage ends all pauses; a healthy watch does not", async () => {
  const contact = new ServerContact({ probeEvery: never });
  const [a, healthy] = [watch("A"), watch("B")];
  contact.failed(a);
  const woken: number[] = [];
  const sleeping = [1, 2, 3].map((index) => contact.sleep(never, open).then(() => woken.push(index)));
  contact.responded(healthy);
  await Promise.resolve();
  expect(woken).toEqual([]);
  contact.responded(a);
  await Promise.all(sleeping);
  expect(woken).toEqual([1, 2, 3]);
});

test("while all wait, the one that has waited longest tries from time to time", async () => {
  const contact = new ServerContact({ probeEvery: 10 });
  const woken: string[] = [];
  const sleep = (name: string) => contact.sleep(never, open).then(() => woken.push(name));
  const [a, b] = [sleep("a"), sleep("b")];
  await a;
  expect(woken).toEqual(["a"]);
  const again = sleep("a again");
  await b;
  expect(woken).toEqual(["a", "b"]);
  await again;
  expect(woken).toEqual(["a", "b", "a again"]);
});

test("a pause ends with its time, and with the reason of its signal", async () => {
  const contact = new ServerContact({ probeEvery: never });
  await contact.sleep(1, open);
  const stop = new AbortController();
  const sleeping = contact.sleep(never, stop.signal);
  stop.abort(new Error("enough"));
  await expect(sleeping).rejects.toThrow("enough");
});

test("a watch that is closed during an outage is removed and reports no recovery", () => {
  const contact = new ServerContact({ onRecovered: () => expect.unreachable() });
  const a = watch("A");
  contact.join(a);
  contact.failed(a);
  expect([...contact.watches]).toEqual([a]);
  contact.leave(a);
  expect([...contact.watches]).toEqual([]);
});
