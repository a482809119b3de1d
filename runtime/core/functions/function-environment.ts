import type { DesiredFunction } from "./desired-function.ts";

/** Facts of the provider that a function gets in its environment. */
export interface FunctionSurroundings {
  /** Address at which the function reaches the gateway. */
  readonly gatewayUrl: string;
  /** Directory of its secrets. */
  readonly secretsDirectory: string;
  /** The port that the function listens on; undefined = assigned when it starts. */
  readonly port: number | undefined;
}

/** The environment of a function on every provider (contract §7); values in envVars take precedence. */
export function functionEnvironment(
  wanted: DesiredFunction,
  { gatewayUrl, secretsDirectory, port }: FunctionSurroundings,
): Readonly<Record<string, string>> {
  const { name, namespace, deployment } = wanted;
  return {
    ...(deployment.envProcess === undefined ? {} : { fprocess: deployment.envProcess }),
    OPENFAAS_NAME: name,
    OPENFAAS_NAMESPACE: namespace,
    SERVICE_NAME: name,
    SERVICE_NAMESPACE: namespace,
    GATEWAY_URL: gatewayUrl,
    SERVICE_SECRETS_DIR: secretsDirectory,
    ...(port === undefined ? {} : { PORT: String(port) }),
    ...deployment.envVars,
  };
}
