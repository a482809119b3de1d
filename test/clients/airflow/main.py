"""Deploys and calls a function with the OpenFaaS hook of Apache Airflow, as a task of it would."""

import json

from airflow.providers.openfaas.hooks.openfaas import OpenFaasHook

hook = OpenFaasHook(function_name="airflow-echo")
print(f"there before: {hook.does_function_exist()}")

deployment = {"service": "airflow-echo", "image": "echo:1", "envProcess": "cat"}
hook.deploy_function(overwrite_function_if_exist=False, body=json.dumps(deployment))
print(f"there after: {hook.does_function_exist()}")

hook.deploy_function(overwrite_function_if_exist=True, body=json.dumps({**deployment, "image": "echo:2"}))
print("updated")

hook.invoke_function("hello")
print("called")
hook.invoke_async_function("hello")
print("queued")
