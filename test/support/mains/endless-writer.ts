import { storeCredentials } from "../../../runtime/cli/gateways/stored-credentials.ts";

/** Stores a long token for the address again and again, until it is killed. */
const [file = "", address = ""] = process.argv.slice(2);
for (let round = 0; ; round++) {
  const token = String(round % 10).repeat(200_000);
  await storeCredentials(file, address, { kind: "bearer", token });
}
