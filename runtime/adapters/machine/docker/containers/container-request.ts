import { formatDuration } from "../../../../api/duration.ts";
import { secretDirectories } from "../../../../api/names.ts";
import type { DefaultLimits } from "../../../../core/ports/engine.ts";
import type { ReplicaSpec } from "../../../../core/ports/replicas.ts";
import { formatLabels } from "./container-labels.ts";
import { containerResources } from "./container-resources.ts";

/** What a container is made with, beside its spec. */
export interface ContainerSurroundings {
  readonly instance: string;
  /** The replica's. */
  readonly id: string;
  /** Id of the image. */
  readonly image: string;
  /** Name of the network. */
  readonly network: string;
  /** `name:address` of each name the gateway has in the container. */
  readonly gatewayHosts: readonly string[];
  /** Holds the function's secrets on this host. */
  readonly secretsDirectory: string;
  /** `uid:gid` that the function runs as. */
  readonly user: string;
  readonly defaultLimits: DefaultLimits;
  /** Processors of this host. */
  readonly cpus: number;
}

/** Not only for root file systems that can be written to: files there may be run, as in any image's own. */
const temporary = "rw,exec,nosuid,nodev,mode=1777";
const port = "8080/tcp";
/** How long the watchdog in an image lets calls finish when it is to stop. */
const graceVariable = "write_timeout";

/**
 * The engine's description of a replica's container (`security.md` §9): the image's own command, nothing it was not given.
 * @throws StartFailure for resources that cannot be given
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
    // The provider asks by itself; what the image would have the engine ask costs a process each time.
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      Privileged: false,
      // Only where the deployment asks for it: images write where they like, and another root file system could not be
      // told from theirs. Then /tmp is memory; else it is the image's own.
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
      // The provider starts anew what ended.
      RestartPolicy: { Name: "no" },
      Init: true,
      LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "2" } },
    },
  };
}
