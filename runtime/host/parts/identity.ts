import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { editions } from "../../api/editions.ts";
import { credentialFile } from "../../api/names.ts";
import type { WorkloadIdentity } from "../../provider/workload-token.ts";
import { openIssuerName } from "../credentials.ts";
import type { HostStart } from "./host-start.ts";
import type { HostPlace } from "./place.ts";

/** The issuer of this machine's tokens, and what its functions' workload tokens are signed and verified with. */
export interface HostIdentity {
  /** For the provider alone. Undefined in editions without IAM. */
  readonly identity: WorkloadIdentity | undefined;
  readonly workloadKey: KeyObject | undefined;
}

/** Reads both below the credentials. */
export async function openIdentity({ settings, layout, url }: HostStart & HostPlace): Promise<HostIdentity> {
  if (!editions[settings.edition].iam) return { identity: undefined, workloadKey: undefined };
  const issuer = await openIssuerName(layout.credentials, { publicUrl: settings.publicUrl, ownUrl: url });
  const key = createPrivateKey(await readFile(join(layout.credentials, credentialFile.workloadKey)));
  return { identity: { issuer, key }, workloadKey: createPublicKey(key) };
}
