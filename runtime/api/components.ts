import type { TSchema } from "typebox";

import { AlertNotification } from "./alert.ts";
import { CallRecord } from "./call-record.ts";
import { DeleteFunctionRequest, FunctionDeployment, Resources, ScaleServiceRequest } from "./function-deployment.ts";
import { FunctionNamespace } from "./function-namespace.ts";
import { Condition, FunctionStatus } from "./function-status.ts";
import { LogRecord } from "./log-record.ts";
import { ProblemDetails } from "./problem-details.ts";
import { DeadLetter, DeadLetterPage, QueueStatus } from "./queue-status.ts";
import { Secret, SecretListItem, SecretReference } from "./secret.ts";
import { SystemInfo } from "./system-info.ts";
import { JsonWebKeySet, OpenIdConfiguration, TokenError, TokenReply, TokenRequest } from "./token.ts";

/** The schemas that have a name of their own, their title, in the OpenAPI document and in clients made from it. */
export const components: readonly TSchema[] = [
  AlertNotification,
  CallRecord,
  Condition,
  DeadLetter,
  DeadLetterPage,
  DeleteFunctionRequest,
  FunctionDeployment,
  FunctionNamespace,
  FunctionStatus,
  JsonWebKeySet,
  LogRecord,
  OpenIdConfiguration,
  ProblemDetails,
  QueueStatus,
  Resources,
  ScaleServiceRequest,
  Secret,
  SecretListItem,
  SecretReference,
  SystemInfo,
  TokenError,
  TokenReply,
  TokenRequest,
];
