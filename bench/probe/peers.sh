# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # to be sourced by run, which sets the variables
# Other tools, each with the smallest configuration that times or traces the one method.  They come from
# Maven Central, lie in $jars and are fetched once.  What cannot be had gives a line in the table.

MAVEN_DEPENDENCY=org.apache.maven.plugins:maven-dependency-plugin:3.6.1

# artifact GROUP:ARTIFACT:VERSION[:TYPE[:CLASSIFIER]]: its path, fetched if need be.
artifact() {
	local group name version type classifier file
	IFS=: read -r group name version type classifier <<<"$1"
	file=$jars/$name-$version${classifier:+-$classifier}.${type:-jar}
	if [ ! -s "$file" ]; then
		command -v mvn >/dev/null || return
		echo "probe: fetching $1 ..." >&2
		timeout 300 mvn -q -B "$MAVEN_DEPENDENCY:copy" -Dartifact="$1" \
			-DoutputDirectory="$jars" >"$dir/mvn.log" 2>&1 </dev/null || return
	fi
	[ -s "$file" ] && echo "$file"
}

# have KEY LABEL ARTIFACT...: sets got to their paths; when one is missing, says so.
have() {
	local key=$1 label=$2 one path
	chosen "$key" || return 1
	got=()
	for one in "${@:3}"; do
		if ! path=$(artifact "$one"); then
			skip "$key" "$label" "$one: not in $jars, and Maven Central was not reached"
			return 1
		fi
		got+=("$path")
	done
}

# peer KEY LABEL FLAG...
peer() { java "$1" "$2" Loop.Hooked "${@:3}"; }

peer_jfr() {
	local file=$dir/log/jep520.jfr
	if [ "$major" -lt 25 ]; then
		skip jep520 "JFR method timing (JEP 520)" "needs JDK 25"
		return
	fi
	peer jep520 "JFR method timing (JEP 520)" \
		"-XX:StartFlightRecording:method-timing=bench.Target::step,filename=$file"
	more after "$home/bin/jfr print --events jdk.MethodTiming $file | awk '/average =/ { print \"step\", \$3 * 1e6 }'"
	peer jfr-trace "JFR method tracing (JEP 520)" \
		"-XX:StartFlightRecording:method-trace=bench.Target::step,filename=$dir/log/trace.jfr,maxsize=50m"
}

peer_async_profiler() {
	local so where
	have async-profiler "async-profiler 4.5" tools.profiler:async-profiler:4.5 || return 0
	case $(uname -m) in
	aarch64) where=linux-arm64 ;;
	*) where=linux-x64 ;;
	esac
	(cd "$dir" && "$home/bin/jar" xf "${got[0]}" $where/libasyncProfiler.so)
	so=$dir/$where/libasyncProfiler.so
	peer async-profiler "async-profiler 4.5 trace, nothing recorded" \
		"-agentpath:$so=start,trace=bench.Target.step:1s,file=$dir/log/async-$major.jfr"
	peer async-profiler-all "async-profiler 4.5 trace, all recorded" \
		"-agentpath:$so=start,trace=bench.Target.step:1ns,file=$dir/log/async-all-$major.jfr"
}

peer_byteman() {
	have byteman "Byteman 4.0.27" org.jboss.byteman:byteman:4.0.27 || return 0
	local flag=-Dorg.jboss.byteman.compile.to.bytecode=true
	cat >"$dir/false.btm" <<-END
		RULE hook
		CLASS bench.Target
		METHOD step
		AT ENTRY
		IF FALSE
		DO NOTHING
		ENDRULE
	END
	cat >"$dir/time.btm" <<-END
		RULE enter
		CLASS bench.Target
		METHOD step
		AT ENTRY
		IF TRUE
		DO resetTimer("step")
		ENDRULE
		RULE exit
		CLASS bench.Target
		METHOD step
		AT EXIT
		IF getElapsedTimeFromTimer("step") > 1000
		DO NOTHING
		ENDRULE
	END
	peer byteman "Byteman 4.0.27, rule that is false" "-javaagent:${got[0]}=script:$dir/false.btm" $flag
	peer byteman-timed "Byteman 4.0.27, timer" "-javaagent:${got[0]}=script:$dir/time.btm" $flag
}

peer_btrace() {
	local v=2.2.6 opens
	have btrace "BTrace $v" io.btrace:btrace-{agent,boot,client}:$v || return 0
	opens="--add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/jdk.internal.reflect=ALL-UNNAMED
		--add-exports=java.base/jdk.internal.reflect=ALL-UNNAMED
		--add-opens=java.base/jdk.internal.perf=ALL-UNNAMED --add-exports=java.base/jdk.internal.perf=ALL-UNNAMED"
	mkdir -p "$dir/btrace"
	cp "${got[0]}" "$dir/btrace/btrace-agent.jar" # its manifest has the other one's name
	cp "${got[1]}" "$dir/btrace/btrace-boot.jar"
	cat >"$dir/btrace/Timed.java" <<-END
		import static org.openjdk.btrace.core.BTraceUtils.*;
		import org.openjdk.btrace.core.annotations.*;

		@BTrace
		public class Timed {
		    static long calls;
		    static long total;

		    @OnMethod(clazz = "bench.Target", method = "step", location = @Location(Kind.RETURN))
		    public static void leave(@Duration long ns) {
		        calls = calls + 1;
		        total = total + ns;
		    }

		    @OnTimer(500)
		    public static void tell() {
		        println("btrace " + calls + " " + total);
		    }
		}
	END
	# shellcheck disable=SC2086
	if ! "$home/bin/java" $opens -cp "${got[0]}:${got[1]}:${got[2]}" org.openjdk.btrace.compiler.Compiler \
		-cp "${got[1]}:${got[2]}" -d "$dir/btrace" "$dir/btrace/Timed.java" >"$dir/log/btracec.log" 2>&1; then
		skip btrace "BTrace $v" "its compiler fails on JDK $major: $(tail -n 1 "$dir/log/btracec.log")"
		return
	fi
	# shellcheck disable=SC2086
	peer btrace "BTrace $v, duration" $opens \
		"-javaagent:$dir/btrace/btrace-agent.jar=noserver=true,stdout=true,script=$dir/btrace/Timed.class"
	more after "awk '\$1 == \"btrace\" && \$2 > 0 { ns = \$3 / \$2 } END { if (ns) print \"step\", ns }' \"\$LOG\""
}

peer_glowroot() {
	local v=0.14.0-beta.2 at
	have glowroot "Glowroot $v" org.glowroot:glowroot-agent:$v:zip:dist || return 0
	at=$dir/glowroot-$major
	rm -rf "$at"
	mkdir -p "$at"
	(cd "$at" && "$home/bin/jar" xf "${got[0]}")
	echo "{\"web\":{\"port\":$(free_port),\"bindAddress\":\"127.0.0.1\"}}" >"$at/glowroot/admin.json"
	cat >"$at/glowroot/config.json" <<-'END'
		{"transactions":{"slowThresholdMillis":60000,"profilingIntervalMillis":0},
		"instrumentation":[
		{"className":"bench.Loop$Hooked","methodName":"run","methodParameterTypes":["int","long"],
		"captureKind":"transaction","transactionType":"Loop","transactionNameTemplate":"run","timerName":"run","order":0},
		{"className":"bench.Target","methodName":"step","methodParameterTypes":["long"],
		"captureKind":"timer","timerName":"step","order":0}]}
	END
	peer glowroot "Glowroot $v, timer in a transaction" "-javaagent:$at/glowroot/glowroot.jar"
}

peer_arthas() {
	local v=4.1.5 at=$dir/arthas port key command
	have arthas "Arthas $v" com.taobao.arthas:arthas-packaging:$v:zip:bin || return 0
	mkdir -p "$at"
	(cd "$at" && "$home/bin/jar" xf "${got[0]}")
	while read -r key command; do
		port=$(free_port)
		peer "arthas-$key" "Arthas $v, $key" -Duser.home="$at" \
			"'-javaagent:$at/arthas-agent.jar=$at/arthas-core.jar;httpPort=$port;telnetPort=-1;ip=127.0.0.1'"
		more prepare "bench/probe/arthas $port \"$command\""
	done <<-'END'
		monitor monitor -c 60 bench.Target step
		watch watch bench.Target step returnObj '#cost>1000'
	END
}

peer_opentelemetry() {
	local v=2.33.1 sampler
	have opentelemetry "OpenTelemetry $v" io.opentelemetry.javaagent:opentelemetry-javaagent:$v || return 0
	for sampler in always_off always_on; do
		peer "opentelemetry-$sampler" "OpenTelemetry $v, method span, $sampler" "-javaagent:${got[0]}" \
			-Dotel.instrumentation.common.default-enabled=false -Dotel.instrumentation.methods.enabled=true \
			"'-Dotel.instrumentation.methods.include=bench.Target[step]'" -Dotel.traces.sampler=$sampler \
			-Dotel.{traces,metrics,logs}.exporter=none
	done
}

peer_kieker() {
	local v=2.0.2
	have kieker "Kieker $v" net.kieker-monitoring:kieker:$v:jar:aspectj || return 0
	mkdir -p "$dir/kieker/META-INF"
	cat >"$dir/kieker/META-INF/aop.xml" <<-END
		<!DOCTYPE aspectj PUBLIC "-//AspectJ//DTD//EN" "http://www.aspectj.org/dtd/aspectj_1_5_0.dtd">
		<aspectj>
		<weaver options=""><include within="bench.Target"/></weaver>
		<aspects>
		<aspect name="kieker.monitoring.probe.aspectj.operationExecution.OperationExecutionAspectFull"/>
		</aspects>
		</aspectj>
	END
	classpath=$dir/kieker
	peer kieker "Kieker $v, nothing written" "-javaagent:${got[0]}" \
		-Dkieker.monitoring.skipDefaultAOPConfiguration=true \
		-Dkieker.monitoring.writer=kieker.monitoring.writer.dump.DumpWriter
	classpath=
}

peer_elastic() {
	local v=1.55.1
	have elastic "Elastic $v" co.elastic.apm:elastic-apm-agent:$v || return 0
	peer elastic "Elastic $v, transaction, nothing sent" "-javaagent:${got[0]}" \
		-Delastic.apm.service_name=bench "'-Delastic.apm.trace_methods=bench.Target#step'" \
		-Delastic.apm.disable_send=true -Delastic.apm.central_config=false \
		-Delastic.apm.cloud_provider=NONE -Delastic.apm.log_level=ERROR
}

peers() {
	peer_jfr
	if [ "${PEERS:-1}" = 0 ]; then
		skip peers "other tools" "PEERS is 0"
		return
	fi
	peer_async_profiler
	peer_byteman
	peer_btrace
	peer_glowroot
	peer_arthas
	peer_opentelemetry
	peer_kieker
	peer_elastic
}
