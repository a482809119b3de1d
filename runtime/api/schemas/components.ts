import type { TSchema } from "typebox";

import { Alert, AlertLabels, AlertNotification } from "./alert.ts";
import { CallAttempt, CallbackState, CallRecord, CallResult } from "./call-record.ts";
import {
  DeleteFunctionRequest,
  EnvironmentVariables,
  FunctionDeployment,
  Resources,
  ScaleServiceRequest,
} from "./function-deployment.ts";
import { FunctionNamespace } from "./function-namespace.ts";
import { Condition, FunctionAnnotations, FunctionLabels, FunctionStatus, FunctionUsage } from "./function-status.ts";
import { LogRecord } from "./log-record.ts";
import { OpenApiDocument } from "./openapi-document.ts";
import { ProblemDetails } from "./problem-details.ts";
import { QueryParameters } from "./query-parameters.ts";
import { DeadLetter, DeadLetterPage, QueueStatus } from "./queue-status.ts";
import { Secret, SecretListItem, SecretReference } from "./secret.ts";
import { ProviderInfo, SystemInfo, VersionInfo } from "./system-info.ts";
import { Annotations, Labels } from "./text-map.ts";
import { JsonWebKey, JsonWebKeySet, OpenIdConfiguration, TokenError, TokenReply, TokenRequest } from "./token.ts";

/** The schemas that have a name of their own, their title, in the OpenAPI document and in clients made from it. */
export const components: readonly TSchema[] = [
  Alert,
  AlertLabels,
  AlertNotification,
  Annotations,
  CallAttempt,
  CallbackState,
  CallRecord,
  CallResult,
  Condition,
  DeadLetter,
  DeadLetterPage,
  DeleteFunctionRequest,
  EnvironmentVariables,
  FunctionAnnotations,
  FunctionDeployment,
  FunctionLabels,
  FunctionNamespace,
  FunctionStatus,
  FunctionUsage,
  JsonWebKey,
  JsonWebKeySet,
  Labels,
  LogRecord,
  OpenApiDocument,
  OpenIdConfiguration,
  ProblemDetails,
  ProviderInfo,
  QueryParameters,
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
  VersionInfo,
];
