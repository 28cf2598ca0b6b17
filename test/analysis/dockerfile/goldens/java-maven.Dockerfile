FROM eclipse-temurin:21-jdk AS build
WORKDIR /app
COPY . ./
RUN --mount=type=cache,target=/root/.m2,sharing=locked \
    sh ./mvnw -DskipTests package
RUN mkdir -p /out && cp "$(ls -S target/*.jar | grep -Ev -- '-(plain|sources|javadoc|tests)[.]jar$|/original-' | head -n 1)" /out/app.jar

FROM eclipse-temurin:21-jre
RUN groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app && install -d -o 10001 -g 10001 /app
WORKDIR /app
COPY --from=build --chown=10001:10001 /out/ ./
ENV PORT=8080 \
    SERVER_PORT=8080 \
    QUARKUS_HTTP_PORT=8080
ENV JAVA_TOOL_OPTIONS="-XX:MaxRAMPercentage=75"
USER 10001:10001
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf \"GET %s HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n\" \"$1\" >&3 && read -r -t 4 _ status _ <&3 && [ \"$status\" -lt \"$2\" ]", "health", "/actuator/health", "400"]
CMD ["java", "-jar", "app.jar"]
