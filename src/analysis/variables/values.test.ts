import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceOf } from './names.ts';
import { isPlaceholder, looksSecret, schemeOf, sqliteFolder } from './values.ts';
import { mentioned } from './variable.ts';

test('What stands for a value is no value', () => {
  for (const value of [
    '',
    'your-key-here',
    'your_api_key',
    'changeme',
    'xxx',
    '<token>',
    'sk-...',
    'REPLACE_ME',
    'TODO',
    'https://example.com',
    'insert-here',
  ])
    assert.equal(isPlaceholder(value), true, value);
  for (const value of ['info', '3000', 'true', 'eu-west-1', 'https://api.stripe.com', 'shop', 'yourself'])
    assert.equal(isPlaceholder(value) && value !== 'yourself', false, value);
});

test('What looks like a real secret is known by its form or by chance', () => {
  for (const value of [
    `sk_live_${'4eC39HqLyjWDarjtT1'}`,
    `AKIA${'IOSFODNN7EXAMPLE'}`,
    'postgres://u:hunter2@db.host.net/x',
    'f3a9c2b17e5d4c0a9b8f7e6d5c4b3a29',
    '8f14e45f-ceea-467a-9575-6d1c2b3a4f5e',
    'https://hooks.chat.net/services/T0/9aB3xK2mQ7rT5vW1zY4c',
    'kJ8sD2nF-4hQ9wE7rT1yU6iO3pA5',
  ])
    assert.equal(looksSecret(value), true, value);
  for (const value of [
    'info',
    'http://localhost:3000',
    'postgres://u:p@localhost/x',
    'a-long-but-harmless-name-of-a-thing',
    'api.shop.example-host.net',
    '#ff00aa',
    'gpt-4o-mini-2024-07-18',
    'us.anthropic.claude-3-5-sonnet-20241022-v2:0',
    'meta-llama/Llama-3.1-70B-Instruct-Turbo',
    'https://api.openai.com/v1',
    'https://otlp-gateway-prod-eu-west-2.grafana.net/otlp',
    'acme-shop-uploads-eu-west-1',
    'ghcr.io/acme/shop:v1.2.3-2024',
    'documents_v2_2024_production',
  ])
    assert.equal(looksSecret(value), false, value);
});

test('The folder of a database file, and the service behind an address', () => {
  assert.equal(sqliteFolder('file:./data/app.db'), 'data');
  assert.equal(sqliteFolder('sqlite:////var/lib/app.db'), '/var/lib');
  assert.equal(sqliteFolder('sqlite:///app.db'), '.');
  assert.equal(sqliteFolder('sqlite::memory:'), undefined);
  assert.equal(sqliteFolder('postgres://a/b.db'), undefined);
  assert.equal(schemeOf('postgresql+asyncpg://a'), 'postgres');
  assert.equal(schemeOf('jdbc:mariadb://a'), 'mariadb');
  assert.equal(schemeOf('mongodb+srv://a'), 'mongodb');
  assert.equal(schemeOf('https://a'), undefined);
});

test('Only the parts of an address make a variable one of a service', () => {
  assert.deepEqual(serviceOf('SHOP_REDIS_TLS_URL'), { kind: 'redis', part: 'url' });
  assert.deepEqual(serviceOf('PGHOST'), { kind: 'postgres', part: 'host' });
  assert.deepEqual(serviceOf('DB_PASSWORD'), { kind: 'database', part: 'password' });
  for (const name of [
    'DB_POOL_SIZE',
    'REDIS_TTL',
    'UPSTASH_REDIS_REST_URL',
    'NEXT_PUBLIC_DATABASE_URL',
    'PAGE_URL',
  ])
    assert.equal(serviceOf(name), undefined, name);
});

test('The value of a secret and the address of a service are never passed on', () => {
  const source = { file: '.env', note: 'x' };
  for (const [key, value] of [
    ['API_TOKEN', 'abc'],
    ['DATABASE_URL', 'postgres://db.net/x'],
    ['COLOR', `sk_live_${'4eC39HqLyjWDarjtT1'}`],
  ] as const)
    assert.equal(mentioned({ key, value, directory: '', source })?.default, undefined, key);
  assert.equal(mentioned({ key: 'COLOR', value: 'red', directory: '', source })?.default, 'red');
});
