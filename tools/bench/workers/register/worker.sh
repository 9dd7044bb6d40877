# Says where it takes its jobs, and leaves the rest to one program that does it for a thousand like this one.
printf '{"takeUrl":"%s","doneUrl":"%s","workerId":"%s","authorization":"%s"}' "$RUNPOD_WEBHOOK_GET_JOB" \
  "$RUNPOD_WEBHOOK_POST_OUTPUT" "$RUNPOD_POD_ID" "$RUNPOD_AI_API_KEY" >"$REGISTER/.$RUNPOD_POD_ID"
mv "$REGISTER/.$RUNPOD_POD_ID" "$REGISTER/$RUNPOD_POD_ID"
exec sleep 86400
