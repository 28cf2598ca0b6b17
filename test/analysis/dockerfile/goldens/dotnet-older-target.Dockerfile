FROM mcr.microsoft.com/dotnet/sdk:9.0 AS build
WORKDIR /app
COPY global.json ./
COPY Shop.csproj ./
RUN --mount=type=cache,target=/root/.nuget/packages \
    dotnet restore "Shop.csproj"
COPY . ./
RUN --mount=type=cache,target=/root/.nuget/packages \
    dotnet publish "Shop.csproj" -c Release -o /out

FROM mcr.microsoft.com/dotnet/aspnet:8.0
WORKDIR /app
COPY --from=build --chown=1654:1654 /out/ ./
ENV PORT=8080 \
    ASPNETCORE_URLS=http://+:8080 \
    DOTNET_CLI_TELEMETRY_OPTOUT=1
USER 1654:1654
EXPOSE 8080
HEALTHCHECK NONE
CMD ["dotnet", "Shop.dll"]
