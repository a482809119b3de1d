import { expect, test } from "vitest";

import { randomFraming } from "../support/framings.ts";
import { differenceOf, readAsNode, readAsWeir } from "../support/http1-streams.ts";
import { say } from "../support/say.ts";

const streams = 1_000_000;

test(`every request accepted from ${streams} random streams is the same to llhttp`, async () => {
  const differences: string[] = [];
  let total = 0;
  let refused = 0;
  for (let seed = 1; seed <= streams && differences.length < 5; seed += 1) {
    const pieces = randomFraming(seed).pieces.map((piece) => Buffer.from(piece, "latin1"));
    const weir = await readAsWeir(pieces);
    total += weir.requests.length;
    refused += weir.refused ? 1 : 0;
    const difference = differenceOf(weir, await readAsNode(pieces));
    if (difference !== undefined) differences.push(`seed ${seed}: ${difference}`);
  }
  say(`H12: ${total} requests of ${streams} streams taken as llhttp takes them, ${refused} streams refused on the way`);
  expect(differences).toEqual([]);
  expect(total).toBeGreaterThan(streams / 2);
});
