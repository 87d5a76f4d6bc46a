# Leaves what is compiled, and adds SQLite.
($compiled | split("\n")) as $names
| .components |= map(select("\(.name) \(.version)" | IN($names[])))
| ([.components[]."bom-ref", .metadata.component."bom-ref"]) as $kept
| .dependencies |= map(
    select(.ref | IN($kept[]))
    | if has("dependsOn") then .dependsOn |= map(select(IN($kept[]))) else . end
)
| .components += [{
    type: "library",
    "bom-ref": "sqlite@\($sqlite)",
    name: "sqlite",
    version: $sqlite,
    scope: "required",
    licenses: [{license: {id: "blessing"}}],
    cpe: "cpe:2.3:a:sqlite:sqlite:\($sqlite):*:*:*:*:*:*:*",
    purl: "pkg:generic/sqlite@\($sqlite)"
}]
