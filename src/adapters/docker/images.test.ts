import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pullHint } from './images.ts';

test('an image that cannot be pulled comes with what helps, by what Docker said', () => {
  const says: [string, RegExp][] = [
    [
      'Error response from daemon: manifest for redis:99 not found: manifest unknown',
      /no such image or version/,
    ],
    ['pull access denied for own/app, repository does not exist or may require docker login', /not public/],
    ['toomanyrequests: You have reached your pull rate limit', /no more images for now/],
    ['no matching manifest for linux/arm64/v8 in the manifest list entries', /processor/],
    ['write /var/lib/docker/tmp/x: no space left on device', /disk of the server is full/],
    ['dial tcp: lookup registry.example.com: no such host', /reaches the registry/],
    ['', /docker pull redis:99/],
  ];
  for (const [evidence, hint] of says) assert.match(pullHint('redis:99', evidence), hint, evidence);
});
