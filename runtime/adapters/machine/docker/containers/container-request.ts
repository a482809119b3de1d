import { formatDuration } from "../../../../api/duration.ts";
import { secretDirectories } from "../../../../api/names.ts";
import type { DefaultLimits } from "../../../../core/ports/engine.ts";
import type { ReplicaSpec } from "../../../../core/ports/replicas.ts";
import { formatLabels } from "./container-labels.ts";
import { containerResources } from "./container-resources.ts";

/** What a container is created with, besides the replica's spec. */
export interface ContainerSurroundings {
  readonly instance: string;
  /** Id of the replica. */
  readonly id: string;
  /** Id of the image. */
  readonly image: string;
  /** Name of the network. */
  readonly network: string;
  /** `name:address` of each name the gateway has in the container. */
  readonly gatewayHosts: readonly string[];
  /** Directory of the function's secrets on this host. */
  readonly secretsDirectory: string;
  /** `uid:gid` that the function runs as. */
  readonly user: string;
  readonly defaultLimits: DefaultLimits;
  /** Processors of this host. */
  readonly cpus: number;
}

/** Mount options of `/tmp` beside a read-only root file system; files there may be executed, as in an image's own. */
const temporary = "rw,exec,nosuid,nodev,mode=1777";
const port = "8080/tcp";
/** Tells the watchdog in an image how long calls may take to finish when it stops. */
const graceVariable = "write_timeout";

/**
 * The engine's description of a replica's container (`security.md` §9): runs the image's own command, with no more
 * rights than are given here.
 * @throws StartFailure for resources that the engine cannot provide
 */
export function containerRequest(spec: ReplicaSpec, surroundings: ContainerSurroundings): object {
  const { network, secretsDirectory } = surroundings;
  return {
    Image: surroundings.image,
    User: surroundings.user,
    Env: Object.entries({ [graceVariable]: formatDuration(spec.grace), ...spec.environment }).map(
      ([name, value]) => `${name}=${value}`,
    ),
    Labels: formatLabels(surroundings.instance, surroundings.id, spec),
    ExposedPorts: { [port]: {} },
    // The provider probes by itself; a health check of the image would cost a process each time.
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      Privileged: false,
      // Read-only only where the deployment asks for it: images write anywhere, and would fail in ways that look like
      // their own. Then /tmp is in memory; otherwise it is the image's own.
      ReadonlyRootfs: spec.readOnlyRootFilesystem,
      ...(spec.readOnlyRootFilesystem ? { Tmpfs: { "/tmp": temporary } } : {}),
      ...containerResources(spec.limits, spec.requests, surroundings.defaultLimits, surroundings.cpus),
      Mounts: secretDirectories.map((target) => ({
        Type: "bind",
        Source: secretsDirectory,
        Target: target,
        ReadOnly: true,
        BindOptions: { Propagation: "rprivate" },
      })),
      NetworkMode: network,
      ExtraHosts: surroundings.gatewayHosts,
      PublishAllPorts: false,
      // The provider replaces containers that ended.
      RestartPolicy: { Name: "no" },
      Init: true,
      LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "2" } },
    },
  };
}
