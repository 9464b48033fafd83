-- What llm 0.36 writes, made by its own Python API; the tables that calls are read from.
CREATE TABLE "attachments" ( "id" TEXT PRIMARY KEY, "type" TEXT, "path" TEXT, "url" TEXT, "content" BLOB );
CREATE TABLE "responses" ( "id" TEXT PRIMARY KEY, "model" TEXT, "prompt" TEXT, "system" TEXT, "prompt_json" TEXT, "options_json" TEXT, "response" TEXT, "response_json" TEXT, "conversation_id" TEXT REFERENCES "conversations"("id"), "duration_ms" INTEGER, "datetime_utc" TEXT, "input_tokens" INTEGER, "output_tokens" INTEGER, "token_details" TEXT, "schema_id" TEXT REFERENCES "schemas"("id") , "resolved_model" TEXT, "reasoning" TEXT);
CREATE TABLE "fragments" ( "id" INTEGER PRIMARY KEY, "hash" TEXT, "content" TEXT, "datetime_utc" TEXT, "source" TEXT );
CREATE TABLE "tools" ( "id" INTEGER PRIMARY KEY, "hash" TEXT, "name" TEXT, "description" TEXT, "input_schema" TEXT , "plugin" TEXT);
CREATE TABLE "messages" ( "hash" TEXT PRIMARY KEY, "parent_hash" TEXT REFERENCES "messages"("hash"), "role" TEXT, "provider_metadata" TEXT );
CREATE TABLE "parts" ( "id" INTEGER PRIMARY KEY, "message_hash" TEXT REFERENCES "messages"("hash"), "position" INTEGER, "type" TEXT, "tool_name" TEXT, "text" TEXT, "payload" TEXT );
CREATE TABLE "threads" ( "id" TEXT PRIMARY KEY, "name" TEXT, "tip_message_hash" TEXT REFERENCES "messages"("hash"), "forked_from" TEXT REFERENCES "threads"("id"), "datetime_utc" TEXT );
CREATE TABLE "turns" ( "id" TEXT PRIMARY KEY, "thread_id" TEXT REFERENCES "threads"("id"), "parent_message_hash" TEXT REFERENCES "messages"("hash"), "tip_message_hash" TEXT REFERENCES "messages"("hash"), "model" TEXT, "resolved_model" TEXT, "options_json" TEXT, "schema_id" TEXT REFERENCES "schemas"("id"), "input_tokens" INTEGER, "output_tokens" INTEGER, "token_details" TEXT, "duration_ms" INTEGER, "datetime_utc" TEXT , "response_json" TEXT);
CREATE TABLE "turn_tools" ( "turn_id" TEXT REFERENCES "turns"("id"), "tool_id" INTEGER REFERENCES "tools"("id"), "instance_id" INTEGER REFERENCES "tool_instances"("id"), PRIMARY KEY ("turn_id", "tool_id") );
INSERT INTO "attachments" VALUES('b9ac7ba8db36fdb3045579383e912c8b8b70cc96af69663a720d2856b83197eb','image/png',NULL,NULL,X'89504E470D0A1A0A303030303030303030303030');
INSERT INTO "fragments" VALUES(1,'74da50563fad6ca76801b352e7a94a0d60311d3f8a594c5619872a51242baf53','A long novel.
','2026-11-28 05:35:37',NULL);
INSERT INTO "messages" VALUES('b2:32cb3af67079be8aeafd8b05763f32c1',NULL,'system',NULL);
INSERT INTO "messages" VALUES('b2:b085e494c98cf240d5a3a9bfa3cc2c43','b2:32cb3af67079be8aeafd8b05763f32c1','user',NULL);
INSERT INTO "messages" VALUES('b2:c9ddcef588a2452cf8c87efa4bde5a83','b2:b085e494c98cf240d5a3a9bfa3cc2c43','assistant',NULL);
INSERT INTO "messages" VALUES('b2:c50ba89133ed4ff0b263c13b37b6b280','b2:c9ddcef588a2452cf8c87efa4bde5a83','user',NULL);
INSERT INTO "messages" VALUES('b2:dc751e6a7df29ea321ccbab1fc3e8eb6','b2:c50ba89133ed4ff0b263c13b37b6b280','assistant',NULL);
INSERT INTO "messages" VALUES('b2:d5df12352c80c6463a9d4918d7bae7f5',NULL,'user',NULL);
INSERT INTO "messages" VALUES('b2:e434844e23b8252327a3f3fc14951663','b2:d5df12352c80c6463a9d4918d7bae7f5','assistant',NULL);
INSERT INTO "messages" VALUES('b2:31dba02dd5a2fd964168f7e06e8d5205','b2:e434844e23b8252327a3f3fc14951663','tool',NULL);
INSERT INTO "messages" VALUES('b2:e5a9850eb4cb711c5b6d9ef5f063c724','b2:31dba02dd5a2fd964168f7e06e8d5205','assistant',NULL);
INSERT INTO "parts" VALUES(1,'b2:32cb3af67079be8aeafd8b05763f32c1',0,'text',NULL,'be brief',NULL);
INSERT INTO "parts" VALUES(2,'b2:b085e494c98cf240d5a3a9bfa3cc2c43',0,'text',NULL,'hello',NULL);
INSERT INTO "parts" VALUES(3,'b2:c9ddcef588a2452cf8c87efa4bde5a83',0,'text',NULL,'Echo: hello',NULL);
INSERT INTO "parts" VALUES(4,'b2:c50ba89133ed4ff0b263c13b37b6b280',0,'text',NULL,NULL,'{"text_ref": [{"fragment": 1}, {"literal": "\nagain"}]}');
INSERT INTO "parts" VALUES(5,'b2:c50ba89133ed4ff0b263c13b37b6b280',1,'attachment',NULL,NULL,'{"attachment": {"id": "b9ac7ba8db36fdb3045579383e912c8b8b70cc96af69663a720d2856b83197eb"}}');
INSERT INTO "parts" VALUES(6,'b2:dc751e6a7df29ea321ccbab1fc3e8eb6',0,'text',NULL,'Echo: A long novel.

again',NULL);
INSERT INTO "parts" VALUES(7,'b2:d5df12352c80c6463a9d4918d7bae7f5',0,'text',NULL,'use tool',NULL);
INSERT INTO "parts" VALUES(8,'b2:e434844e23b8252327a3f3fc14951663',0,'tool_call','lookup',NULL,'{"name": "lookup", "arguments": {"id": 3}, "tool_call_id": "c1"}');
INSERT INTO "parts" VALUES(9,'b2:31dba02dd5a2fd964168f7e06e8d5205',0,'tool_result','lookup',NULL,'{"name": "lookup", "output": "found 3", "tool_call_id": "c1"}');
INSERT INTO "parts" VALUES(10,'b2:e5a9850eb4cb711c5b6d9ef5f063c724',0,'text',NULL,'Echo: ',NULL);
INSERT INTO "threads" VALUES('01m8gadr72t5seng23pfcagfp5','hello','b2:dc751e6a7df29ea321ccbab1fc3e8eb6',NULL,'2026-11-28 05:35:37.188621+00:00');
INSERT INTO "threads" VALUES('01m8gadr9pcbsxxns7kf4gfmsv','use tool','b2:e5a9850eb4cb711c5b6d9ef5f063c724',NULL,'2026-11-28 05:35:37.272871+00:00');
INSERT INTO "tools" VALUES(1,'38a158d48d3dad16f495979ab4e3b9172e29d72181cfde4415f653451518ca76','lookup','look','{"properties": {"id": {"type": "integer"}}, "required": ["id"], "type": "object"}',NULL);
INSERT INTO "turn_tools" VALUES('01m8gadr9r3mne4zase1b5e6ac',1,NULL);
INSERT INTO "turn_tools" VALUES('01m8gadraycnnc2853p9k2d3p1',1,NULL);
INSERT INTO "turns" VALUES('01m8gadr72t5seng23pfcagfp6','01m8gadr72t5seng23pfcagfp5','b2:b085e494c98cf240d5a3a9bfa3cc2c43','b2:c9ddcef588a2452cf8c87efa4bde5a83','echo',NULL,NULL,NULL,10,5,NULL,0,'2026-11-28T05:35:37.186623+00:00',NULL);
INSERT INTO "turns" VALUES('01m8gadr8avcbzeaavemgpzda9','01m8gadr72t5seng23pfcagfp5','b2:c50ba89133ed4ff0b263c13b37b6b280','b2:dc751e6a7df29ea321ccbab1fc3e8eb6','echo',NULL,NULL,NULL,10,5,NULL,0,'2026-11-28T05:35:37.226629+00:00',NULL);
INSERT INTO "turns" VALUES('01m8gadr9r3mne4zase1b5e6ac','01m8gadr9pcbsxxns7kf4gfmsv','b2:d5df12352c80c6463a9d4918d7bae7f5','b2:e434844e23b8252327a3f3fc14951663','echo',NULL,NULL,NULL,10,5,NULL,0,'2026-11-28T05:35:37.272484+00:00',NULL);
INSERT INTO "turns" VALUES('01m8gadraycnnc2853p9k2d3p1','01m8gadr9pcbsxxns7kf4gfmsv','b2:31dba02dd5a2fd964168f7e06e8d5205','b2:e5a9850eb4cb711c5b6d9ef5f063c724','echo',NULL,NULL,NULL,10,5,NULL,0,'2026-11-28T05:35:37.310364+00:00',NULL);
