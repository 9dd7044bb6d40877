import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

export interface AlertCase {
  readonly name: string;
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: readonly object[] }[];
}

export const ALERTS = resolve(import.meta.dirname, '../../../deploy/prometheus/alerts.yaml');
export const ALERT_TESTS = resolve(import.meta.dirname, 'alerts.test.yaml');

export const readAlerts = (): readonly AlertRule[] =>
  (parse(readFileSync(ALERTS, 'utf8')) as { groups: { rules: AlertRule[] }[] }).groups.flatMap(({ rules }) => rules);

export const readAlertCases = (): readonly AlertCase[] =>
  (parse(readFileSync(ALERT_TESTS, 'utf8')) as { tests: AlertCase[] }).tests;
