import { expect, test } from "vitest";

import { randomFraming } from "../support/framings.ts";
import { differenceOf, readAsNode, readAsWeir } from "../support/http1-streams.ts";
import { say } from "../support/say.ts";

const streams = 1_000_000;

test(`of ${streams} random streams each request that is taken is the very same one to llhttp`, async () => {
  const differences: string[] = [];
  let taken = 0;
  let refused = 0;
  for (let seed = 1; seed <= streams && differences.length < 5; seed += 1) {
    const pieces = randomFraming(seed).pieces.map((piece) => Buffer.from(piece, "latin1"));
    const weir = await readAsWeir(pieces);
    taken += weir.requests.length;
    refused += weir.refused ? 1 : 0;
    const difference = differenceOf(weir, await readAsNode(pieces));
    if (difference !== undefined) differences.push(`seed ${seed}: ${difference}`);
  }
  say(`H12: ${taken} requests of ${streams} streams taken as llhttp takes them, ${refused} streams refused on the way`);
  expect(differences).toEqual([]);
  expect(taken).toBeGreaterThan(streams / 2);
});
