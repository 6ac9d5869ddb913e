/* SPDX-License-Identifier: Apache-2.0 */
/* secrets.h - parts of names whose values are not shown and not kept. */
#ifndef CLI_SCREEN_SECRETS_H
#define CLI_SCREEN_SECRETS_H

/* As SondeText has them, with commas between; sent with each request for values, since another
 * version of it may be in the program. */
#define SECRETS_USUAL                                                                              \
	"password,passwd,passphrase,pwd,secret,token,authorization,credential,apikey,api_key,"     \
	"api-key,accesskey,access_key,privatekey,private_key,cookie,sessionid,session_id,pin,ssn," \
	"creditcard,credit_card,cardnumber,card_number,cvv,cvc,iban"

#endif
