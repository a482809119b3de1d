import type { SystemInfo } from "../../../api/schemas/system-info.ts";
import { isLoopbackAddress } from "../../gateways/gateway-address.ts";

/** What a gateway runs functions from. */
export type DeployTarget =
  /** Folders of this machine. */
  | "folders"
  /** Processes of another machine: neither folders of this one nor images. */
  | "processes"
  /** Images of this machine's engine. */
  | "engine"
  /** Images that it pulls. */
  | "machine"
  | "cluster";

/** See {@link DeployTarget}; `address` is the gateway's. */
export function deployTarget({ provider: { provider } }: Pick<SystemInfo, "provider">, address: string): DeployTarget {
  const isHere = isLoopbackAddress(address);
  switch (provider) {
    case "weir-local":
      return isHere ? "folders" : "processes";
    case "weir-docker":
      return isHere ? "engine" : "machine";
    default:
      return "cluster";
  }
}

/** The target in error sentences; empty where it goes without saying. */
export function targetWords(target: DeployTarget): string {
  switch (target) {
    case "folders":
      return " to the local provider";
    case "processes":
      return " to the local provider of another machine";
    case "engine":
      return " to the docker provider";
    case "machine":
      return " to another machine";
    case "cluster":
      return " to a cluster";
    default:
      return target satisfies never;
  }
}
