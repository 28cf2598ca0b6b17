/** Several projects in one Maven or Gradle build. One alone is no workspace. */
import type { WorkspaceFinder } from '../../detector.ts';
import { join, nameOf, parentOf } from '../../repository.ts';
import { namedMember } from '../workspace-members.ts';
import { gradleProjects } from './gradle.ts';
import { readMaven } from './maven.ts';

export const mavenWorkspace: WorkspaceFinder = {
  name: 'maven',
  find(repository) {
    return [...repository.filesUnder('', ['pom.xml'])].flatMap((file) => {
      if (nameOf(file) !== 'pom.xml') return [];
      const root = parentOf(file) ?? '';
      const members = (readMaven(repository, file)?.modules ?? [])
        .map((name) => namedMember(root, name.replace(/\/pom\.xml$/, '')))
        .filter(
          (member): member is string => member !== undefined && repository.has(join(member, 'pom.xml')),
        );
      return members.length === 0
        ? []
        : [{ kind: 'maven', tool: null, root, members, source: { file, note: 'modules' } }];
    });
  },
};

export const gradleWorkspace: WorkspaceFinder = {
  name: 'gradle',
  find(repository) {
    return [...repository.filesUnder('', ['settings.gradle', 'settings.gradle.kts'])].flatMap((file) => {
      const members = gradleProjects(repository, file);
      const root = parentOf(file) ?? '';
      return members.length < 2
        ? []
        : [{ kind: 'gradle', tool: null, root, members, source: { file, note: 'include' } }];
    });
  },
};
