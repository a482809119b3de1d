import type { TSchema } from "typebox";

import { MissingRight, SimulateReply, SimulateRequest, SubjectClaims, WhoAmI } from "./iam/access.ts";
import { AuditRecord, AuditStatement } from "./iam/audit.ts";
import { Alert, AlertLabels, AlertNotification } from "./alert.ts";
import { CallRecordAttempt, CallRecordCallback, CallRecordPrincipal, CallRecord, CallResult } from "./call-record.ts";
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
import { AccessFault, AccessInfo, ProviderInfo, SystemInfo, VersionInfo } from "./system-info.ts";
import { Annotations, Labels } from "./text-map.ts";
import { SignInIssuer } from "./iam/sign-in.ts";
import { JsonWebKey, JsonWebKeySet, OpenIdConfiguration, TokenError, TokenReply, TokenRequest } from "./iam/token.ts";

/** The schemas that the OpenAPI document, and clients generated from it, name by their title. */
export const components: readonly TSchema[] = [
  AccessFault,
  AccessInfo,
  Alert,
  AlertLabels,
  AlertNotification,
  Annotations,
  AuditRecord,
  AuditStatement,
  CallRecordAttempt,
  CallRecordCallback,
  CallRecordPrincipal,
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
  MissingRight,
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
  SimulateReply,
  SimulateRequest,
  SubjectClaims,
  SystemInfo,
  SignInIssuer,
  TokenError,
  TokenReply,
  TokenRequest,
  VersionInfo,
  WhoAmI,
];
