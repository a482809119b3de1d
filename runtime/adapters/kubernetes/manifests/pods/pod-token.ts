import { basename, dirname } from "node:path";

import { workloadTokenFile } from "../../../../api/names.ts";
import { workloadTokenLifetime } from "../../../../core/access/tokens/workload-claims.ts";
import type { Container, Volume } from "../object-types.ts";

/** What a pod gets of its service account. */
export interface PodToken {
  readonly volumes: readonly Volume[];
  readonly volumeMounts: Container["volumeMounts"];
}

const volumeName = "identity";
const none: PodToken = { volumes: [], volumeMounts: [] };

/**
 * A token of the service account that a function names, good for `audience` alone; the kubelet renews it. Functions that
 * name none have none.
 */
export function podToken(serviceAccount: string | undefined, audience: string | undefined): PodToken {
  if (serviceAccount === undefined || audience === undefined) return none;
  const serviceAccountToken = {
    path: basename(workloadTokenFile.cluster),
    audience,
    expirationSeconds: workloadTokenLifetime,
  };
  return {
    volumes: [{ name: volumeName, projected: { defaultMode: 0o440, sources: [{ serviceAccountToken }] } }],
    volumeMounts: [{ name: volumeName, mountPath: dirname(workloadTokenFile.cluster), readOnly: true }],
  };
}
