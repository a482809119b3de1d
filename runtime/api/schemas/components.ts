import type { TSchema } from "typebox";

import { Alert, AlertLabels, AlertNotification } from "./alert.ts";
import { CallRecordAttempt, CallRecordCallback, CallRecord, CallResult } from "./call-record.ts";
import {
  DeleteFunctionRequest,
  EnvironmentVariables,
  FunctionDeployment,
  Resources,
  ScaleServiceRequest,
} from "./function-deployment.ts";
import { FunctionNamespaceBody } from "./function-namespace.ts";
import {
  Condition,
  FunctionAnnotations,
  FunctionLabels,
  FunctionStatus,
  FunctionStatusUsage,
} from "./function-status.ts";
import { DoctorReport, Finding, PlatformPart } from "./doctor-report.ts";
import { LogRecord } from "./log-record.ts";
import { OpenApiDocument } from "./openapi-document.ts";
import { ProblemDetails } from "./problem-details.ts";
import { QueryParameters } from "./query-parameters.ts";
import { DeadLetterView, DeadLetterPage, QueueStatus } from "./queue-status.ts";
import { Secret, SecretListItem, SecretReference } from "./secret.ts";
import { ProviderInfo, SystemInfo, VersionInfo } from "./system-info.ts";
import { Annotations, Labels } from "./text-map.ts";
import { JsonWebKey, JsonWebKeySet, OpenIdConfiguration, TokenError, TokenReply, TokenRequest } from "./token.ts";

/** The schemas that the OpenAPI document, and clients generated from it, name by their title. */
export const components: readonly TSchema[] = [
  Alert,
  AlertLabels,
  AlertNotification,
  Annotations,
  CallRecordAttempt,
  CallRecordCallback,
  CallRecord,
  CallResult,
  Condition,
  DeadLetterView,
  DeadLetterPage,
  DeleteFunctionRequest,
  DoctorReport,
  EnvironmentVariables,
  Finding,
  FunctionAnnotations,
  FunctionDeployment,
  FunctionLabels,
  FunctionNamespaceBody,
  FunctionStatus,
  FunctionStatusUsage,
  JsonWebKey,
  JsonWebKeySet,
  Labels,
  LogRecord,
  OpenApiDocument,
  OpenIdConfiguration,
  PlatformPart,
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
