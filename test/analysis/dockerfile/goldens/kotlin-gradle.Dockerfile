FROM gradle:8-jdk17 AS build
WORKDIR /app
ENV GRADLE_USER_HOME=/root/.gradle
COPY . ./
RUN --mount=type=cache,target=/root/.gradle,sharing=locked \
    gradle build -x test
RUN mkdir -p /out && cp build/libs/shop-1.0.jar /out/app.jar

FROM eclipse-temurin:17-jre
RUN groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app && install -d -o 10001 -g 10001 /app
WORKDIR /app
COPY --from=build --chown=10001:10001 /out/ ./
ENV PORT=8080 \
    SERVER_PORT=8080 \
    QUARKUS_HTTP_PORT=8080
ENV JAVA_TOOL_OPTIONS="-XX:MaxRAMPercentage=75"
USER 10001:10001
EXPOSE 8080
HEALTHCHECK NONE
CMD ["/bin/sh", "-c", "exec java -jar app.jar --port=$PORT"]
