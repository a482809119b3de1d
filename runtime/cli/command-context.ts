import type { GatewayClient } from "./client/gateway-client.ts";
import type { GatewayCredentials } from "./client/gateway-credentials.ts";
import type { ChosenGateway } from "./gateways/choose-gateway.ts";
import type { Output } from "./output/output.ts";
import type { Terminal } from "./terminal.ts";

/** What a command works with. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly output: Output;
  /** The gateway that flags, environment, project and contexts name. */
  chosenGateway(): Promise<ChosenGateway>;
  /** A client of that gateway, with the credentials for it. */
  gateway(): Promise<GatewayClient>;
  /** A client of any gateway, with these credentials. */
  connect(gateway: ChosenGateway, credentials: GatewayCredentials | undefined): Promise<GatewayClient>;
  /** The namespace of `--namespace`, else of `weir.yaml` or the context; undefined is the gateway's default one. */
  namespace(): Promise<string | undefined>;
  /** Milliseconds of `--timeout`, else `fallback`. */
  timeout(fallback: number): number;
  /**
   * Asks before something is lost. Without a terminal `--yes` must be there.
   * @throws CliError when the answer is no, or nobody can be asked
   */
  confirm(question: string): Promise<void>;
  /** Runs when the command ends, also by Ctrl-C: it waits for this, and for nothing else. */
  onClose(close: () => Promise<void>): void;
  /** Whether a person can be asked: stdin and stderr are terminals, and `--no-input` was not given. */
  readonly mayAsk: boolean;
}
