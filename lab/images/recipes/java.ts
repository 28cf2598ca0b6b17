/**
 * Java 21, and Maven with Debian's own repository: no other is reachable in the lab, so Maven stays offline and builds
 * what needs no library. The image to run in has the compiler too; the official one has not.
 */
import { hostCertificates } from './host-certificates.ts';
import type { ImageRecipe } from './recipe.ts';
import { plainPath } from './recipe.ts';

const setup = `
ln -s /usr/lib/jvm/java-21-openjdk-* /opt/java
java -version
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* /tmp/*
`;

export const java: ImageRecipe = {
  name: 'eclipse-temurin',
  tags: ['21-jdk', '21-jre', '21', 'latest'],
  parent: 'debian:trixie-slim',
  packages: ['ca-certificates', 'openjdk-21-jdk-headless'],
  // A folder of manuals: Java's package links its own there, and fails without.
  rootfs: 'java',
  fromHost: hostCertificates,
  setup,
  config: { Env: [plainPath, 'JAVA_HOME=/opt/java', 'LANG=C.UTF-8'], Cmd: ['jshell'] },
};

export const maven: ImageRecipe = {
  name: 'maven',
  tags: ['3-eclipse-temurin-21', '3.9-eclipse-temurin-21'],
  parent: 'eclipse-temurin:21-jdk',
  packages: ['maven', 'maven-debian-helper'],
  setup: 'mvn --version\nrm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* /tmp/*\n',
  config: {
    Env: [
      plainPath,
      'JAVA_HOME=/opt/java',
      'LANG=C.UTF-8',
      'MAVEN_ARGS=--offline --settings /etc/maven/settings-debian.xml',
    ],
    Cmd: ['mvn'],
  },
};
