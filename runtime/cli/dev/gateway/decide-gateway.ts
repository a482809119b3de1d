import { CliError, usageError } from "../../cli-error.ts";
import { exitCode } from "../../exit-code.ts";
import type { ChosenGateway } from "../../gateways/choose-gateway.ts";
import { isLoopbackAddress } from "../../gateways/gateway-address.ts";

/** What is known of the gateway that flags, environment, project and contexts name. */
export interface GatewayState {
  readonly gateway: Pick<ChosenGateway, "address" | "source">;
  /** `--context` was given: the person says so. */
  readonly byContextFlag: boolean;
  /** Whether something listens there; not looked at for other machines. */
  readonly listens: boolean;
  /** Why it cannot be used, although something listens there. */
  readonly refusal: CliError | undefined;
}

/** Which gateway `weir dev` deploys to. */
export type GatewayDecision =
  | { readonly kind: "use" }
  /** One is started; without a port at the usual one, or any if that is taken. */
  | { readonly kind: "start"; readonly host: string; readonly port: number | undefined };

/** Nobody named a gateway, or a Weir of this project did that may be gone. */
const unnamed: ReadonlySet<string> = new Set(["the default", ".weir/address"]);

/**
 * See {@link GatewayDecision}.
 * @throws CliError when neither can be
 */
export function decideGateway({ gateway, byContextFlag, listens, refusal }: GatewayState): GatewayDecision {
  const { address, source } = gateway;
  if (!isLoopbackAddress(address)) {
    if (byContextFlag) return { kind: "use" };
    throw usageError(`Cannot develop on "${address}": each save would deploy to it; say so with --context`);
  }
  if (listens && refusal === undefined) return { kind: "use" };
  // Another project's Weir, or another program.
  if (unnamed.has(source)) return { kind: "start", host: "127.0.0.1", port: undefined };
  if (listens && refusal !== undefined) throw refusal;
  const { hostname, pathname, port, protocol } = new URL(address);
  if (protocol !== "http:" || pathname !== "/")
    throw new CliError(
      exitCode.unavailable,
      `Cannot develop on "${address}" of ${source}: nothing listens there, and a Weir that is started here has no TLS and no path`,
    );
  return { kind: "start", host: hostname === "[::1]" ? "::1" : "127.0.0.1", port: port === "" ? 80 : Number(port) };
}
