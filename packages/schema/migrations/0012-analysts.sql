-- The analysts who see only some applications. A definition and its later forms: the newest counts.
CREATE TABLE IF NOT EXISTS intake.analysts (
  name String,
  bundles Array(String),
  without Array(String),
  pseudonyms Array(String),
  password_sha256 String,
  is_removed UInt8,
  set_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(set_at)
ORDER BY name
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The key of the pseudonyms. Only the definers of analysts' views read it.
CREATE TABLE IF NOT EXISTS intake.pseudonym_key (
  secret String,
  created_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY created_at
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
