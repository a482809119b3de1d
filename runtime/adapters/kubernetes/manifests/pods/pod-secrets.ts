import { secretDirectories } from "../../../../api/names.ts";
import type { Container, PodSpec, Volume } from "../object-types.ts";

/** What a pod gets of the secrets that its function names. */
export interface PodSecrets {
  readonly volumes: readonly Volume[];
  readonly volumeMounts: Container["volumeMounts"];
  readonly imagePullSecrets: PodSpec["imagePullSecrets"];
}

const volumeName = "secrets";

/**
 * All keys of all `secrets` as files of one volume, read-only, at both paths (contract §7). `pullSecrets`, the
 * credentials of image registries, are for the kubelet only: no function sees them.
 */
export function podSecrets(secrets: readonly string[], pullSecrets: ReadonlySet<string>): PodSecrets {
  const names = [...secrets].sort();
  const mounted = names.filter((name) => !pullSecrets.has(name));
  const pulling = names.filter((name) => pullSecrets.has(name));
  const imagePullSecrets = pulling.length === 0 ? undefined : pulling.map((name) => ({ name }));
  if (mounted.length === 0) return { volumes: [], volumeMounts: [], imagePullSecrets };
  return {
    volumes: [
      {
        name: volumeName,
        projected: { defaultMode: 0o440, sources: mounted.map((name) => ({ secret: { name } })) },
      },
    ],
    volumeMounts: secretDirectories.map((mountPath) => ({ name: volumeName, mountPath, readOnly: true })),
    imagePullSecrets,
  };
}
