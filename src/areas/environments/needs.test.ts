import assert from 'node:assert/strict';
import { test } from 'node:test';
import { most, needsOfSettings, needsOfVariable } from './needs.ts';

test('a setting needs a build where the image is made of it, and else no more than a restart', () => {
  const needs = (before: object, after: object, isGenerated = true) =>
    needsOfSettings(before, after, isGenerated);
  assert.equal(needs({ port: 1 }, { port: 1 }), 'nothing');
  assert.equal(needs({ health: { path: '/a' } }, { health: { path: '/a' } }), 'nothing');
  assert.equal(needs({ health: { path: '/a' } }, { health: { path: '/b' } }), 'restart');
  assert.equal(needs({}, { buildCommand: null }), 'rebuild', 'none is not the same as found');
  assert.equal(needs({}, { startCommand: 'a' }), 'rebuild');
  assert.equal(needs({}, { startCommand: 'a' }, false), 'restart');
  assert.equal(needs({ replicas: 2, buildCommand: 'a' }, {}), 'rebuild', 'what needs most counts');
  assert.equal(needs({}, { releaseCommand: 'a', buildCpus: 2 }), 'nothing');
});

test('a variable needs a build where the build saw it or is to see it', () => {
  const built = { value: 'a', target: 'both' } as const;
  const run = { value: 'a', target: 'runtime' } as const;
  assert.equal(needsOfVariable(built, built), 'nothing');
  assert.equal(needsOfVariable(undefined, run), 'restart');
  assert.equal(needsOfVariable(run, undefined), 'restart');
  assert.equal(needsOfVariable(undefined, { value: '', target: 'build' }), 'rebuild');
  assert.equal(needsOfVariable(run, built), 'rebuild');
  assert.equal(needsOfVariable(built, run), 'rebuild');
  assert.equal(needsOfVariable(run, { ...run, value: 'b' }), 'restart');
  assert.equal(most([]), 'nothing');
});
