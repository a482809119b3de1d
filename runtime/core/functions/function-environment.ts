import type { DesiredFunction } from "./desired-function.ts";

/** What the provider knows that a function is told. */
export interface FunctionSurroundings {
  /** Where the function reaches the gateway. */
  readonly gatewayUrl: string;
  /** The directory its secrets lie in. */
  readonly secretsDirectory: string;
  /** The port that the function listens on; undefined = it is told one when it starts. */
  readonly port: number | undefined;
}

/** The environment of a function on every provider (contract §7); a name that is also in envVars keeps that value. */
export function environmentOf(
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
